"""The environment in which a target's programs are compiled: as it is now, and whether it still is what it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.options import file_options
from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.target import TargetError
from jaxstage_ext.store import cache
from jaxstage_ext.worker import compile_environment
from jaxstage_ext.worker.compile_environment import CompileEnvironment

_COMPILERS = {"tpu": "libtpu", "cuda": "JAX's CUDA plugin or its toolkit"}


def taken(platform: str, options: Mapping[str, Any] | None = None) -> CompileEnvironment:
    """The environment of a compile for a platform that begins now, with the files that these options name."""
    environment = compile_environment.current()
    paths = file_options.read_by(options or {}, environment)
    return replace(environment, compiler=packages.identity(platform), files=_files(paths))


def key(environment: CompileEnvironment, *parts: bytes | str) -> str | None:
    """The name, in the inspection cache, of what a compiler makes of the parts in an environment.

    None where options in the environment name files, whose contents may change, or which are wanted every time.
    """
    if file_options.environment_names_files(environment):
        return None
    return cache.key(*environment.parts, *parts)


def store(
    key: str | None, environment: CompileEnvironment, platform: str, head: Mapping[str, Any], *parts: bytes
) -> bool:
    """Keep what a platform's compiler made under a key, unless the compiler was replaced while it was asked.

    Returns whether the key is that of the parts.
    """
    if key is None or change(environment, platform) is not None:
        return False
    cache.store(key, head, *parts)
    return True


def change(environment: CompileEnvironment, platform: str) -> str | None:
    """What has changed since in the files that an environment names, as a clause; None where nothing has.

    Variables are not compared: a worker gets them from the environment.
    """
    paths = tuple(path for path, _ in environment.files)
    if changed := set(_files(paths)) - set(environment.files):
        return f"{min(changed)[0]!r} has changed"
    if packages.identity(platform) == environment.compiler:
        return None
    return f"{_COMPILERS.get(platform, 'jaxlib')} was replaced"


def check_jaxlib() -> None:
    """Raise TargetError where jaxlib was replaced since this process loaded it, as a worker loads the new one."""
    installed, loaded = packages.version_of("jaxlib"), jax_options.jaxlib_version()
    if installed and installed != loaded:
        raise TargetError(f"jaxlib {installed} is installed, but this kernel has loaded {loaded}; restart the kernel")


def _files(paths: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((path, packages.of(path)) for path in paths)
