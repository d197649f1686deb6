"""Compile options that name files: their contents may change, and what XLA writes there is wanted every time.

A worker has a working directory of its own, so paths are absolute before it gets them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.options import xla_flags
from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.worker import flag_text
from jaxstage_ext.worker.compile_environment import READ_BY_XLA, CompileEnvironment

_DUMPS = re.compile("dump")
_BUILD_OPTIONS = _DEBUG_OPTIONS = 3
_OF_OTHERS = {"cpu": ("xla_gpu_", "xla_tpu_"), "tpu": ("xla_gpu_", "xla_cpu_"), "cuda": ("xla_tpu_", "xla_cpu_")}
_TOOLKIT_FILES = ("bin/ptxas", "nvvm/libdevice/libdevice.10.bc")
_NO_FILE = re.compile(rb"inf|[^ -~]|^$")


class FileOptionError(DeliberateError, ValueError):
    """An option that names a file which cannot be read; the message is one line."""


def names_files(options: Mapping[str, Any]) -> bool:
    """Whether one of these options makes XLA read or write a file."""
    return any(_names_file(name, value) for name, value in options.items())


def environment_names_files(environment: CompileEnvironment) -> bool:
    """Whether an option that the environment sets makes XLA read or write a file."""
    return any(_names_file(name, value) for name, value in _flags(environment))


def read_by(options: Mapping[str, Any], environment: CompileEnvironment) -> tuple[str, ...]:
    """The files that XLA reads because of the options, or of those that the environment sets, by absolute path."""
    given = (*options.items(), *_flags(environment), *_toolkit(environment))
    return tuple(
        sorted({path for name, value in given if not flag_text.is_written(name) for path in _paths(name, value)})
    )


def absolute(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with each path in them absolute, from the kernel's working directory, as XLA takes it here."""
    return {n: flag_text.absolute(n, value) if isinstance(value, str) else value for n, value in options.items()}


def checked(name: str, value: Any) -> Any:
    """An option's value with its paths absolute and "~" replaced.

    Raises FileOptionError where it names a file to read that does not exist.
    """
    given = [str(Path(path).expanduser()) for path in flag_text.paths(name, value)]
    if not given:
        return value
    whole = flag_text.absolute(name, ",".join(given))
    _check_readable(name, whole)
    return whole


def check_readable(options: Mapping[str, Any], platform: str) -> None:
    """Raise FileOptionError where an option of "cpu", "tpu" or "cuda" names a file to read that does not exist.

    XLA itself may compile another program then, and say nothing.
    """
    for name, value in options.items():
        if not name.startswith(_OF_OTHERS.get(platform, ())):
            _check_readable(name, value)


def _check_readable(name: str, value: Any) -> None:
    if name.startswith("xla_tpu_") or flag_text.is_written(name):
        return
    for path in map(Path, flag_text.paths(name, value)):
        if not path.exists():
            raise FileOptionError(f"{name}: there is no file {str(path)!r}")
        if path.is_dir() and name.endswith(("_file", "_filename")):
            raise FileOptionError(f"{name}: {str(path)!r} is a directory, not a file")


@cache
def of_process() -> Mapping[str, str]:
    """The options that name files among those that this process's XLA took from XLA_FLAGS, which it reads once.

    They are in every compile's options, so they hold whatever XLA_FLAGS is now. That of the CUDA toolkit, which JAX
    itself sets, is left out.
    """
    build = dict(protowire.leading_fields(jax_options.plain_options())).get(_BUILD_OPTIONS, b"")
    texts = protowire.leading_fields(dict(protowire.leading_fields(build)).get(_DEBUG_OPTIONS, b""))
    if not any(len(text) > 1 and not _NO_FILE.search(text) for _, text in texts):
        return {}
    flags = xla_flags.installed().by_name.values()
    set_here = {
        flag.name: flag.default or "" for flag in flags if flag.type == "string" and flag.default != xla_flags.UNSET
    }
    return {name: value for name, value in set_here.items() if name != flag_text.TOOLKIT and _paths(name, value)}


def _names_file(name: str, value: Any) -> bool:
    if _DUMPS.search(name):
        return True
    return isinstance(value, str) and ("/" in value or bool(flag_text.paths(name, value)))


def _paths(name: str, value: Any) -> list[str]:
    return flag_text.paths(name, value) if name else [value]


def _toolkit(environment: CompileEnvironment) -> Iterator[tuple[str, str]]:
    """What XLA reads in the folder of a CUDA toolkit that XLA_FLAGS names."""
    for name, folder in flag_text.options(environment.variable("XLA_FLAGS")):
        if name == flag_text.TOOLKIT:
            yield from (("", f"{folder}/{file}") for file in _TOOLKIT_FILES)


def _flags(environment: CompileEnvironment) -> Iterator[tuple[str, str]]:
    """The options of the environment, but for the toolkit's folder, whose contents identify the compiler."""
    for variable in READ_BY_XLA:
        for name, value in flag_text.options(environment.variable(variable)):
            if name != flag_text.TOOLKIT:
                yield name, value
