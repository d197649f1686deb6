"""Compile options as JAX and jaxlib know them, and the library that holds XLA."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jaxlib
from jax._src import compiler as _compiler
from jax._src import xla_bridge as _xla_bridge


def xla_library() -> Path:
    """The shared library that holds XLA."""
    return Path(jaxlib.__file__).with_name("libjax_common.so")


def backends_exist() -> bool:
    """Whether JAX has made its backends, for which XLA has read its environment."""
    return bool(_xla_bridge.backends_are_initialized())


def compile_options() -> bytes:
    """The serialised CompileOptionsProto that JAX compiles with where no option is set."""
    options = _compiler.get_compile_options(num_replicas=1, num_partitions=1)
    return bytes(options.SerializeAsString())


_CONFIG = (
    "jax_disable_most_optimizations",
    "jax_optimization_level",
    "jax_memory_fitting_level",
    "jax_compiler_enable_remat_pass",
    "jax_use_shardy_partitioner",
    "jax_xla_profile_version",
    "jax_compilation_cache_dir",
    "jax_persistent_cache_enable_xla_caches",
)
"""The entries of `jax.config` that compile options follow (`get_compile_options`, jax 0.10.2 to 0.12.0.1)."""


@dataclass(frozen=True)
class ConfiguredOptions:
    """What `jax.config` makes of the compile options.

    Attributes:
      options: serialised, where nothing else is set.   config: the entries of `jax.config` that they follow.
    """

    options: bytes
    config: tuple[tuple[str, str], ...] = field(compare=False)

    def changes_to(self, later: ConfiguredOptions) -> list[str]:
        """The entries that differ, as "name was a, is b"."""
        was = dict(self.config)
        return [f"{name} was {was[name]}, is {value}" for name, value in later.config if value != was[name]]


def configured_options() -> ConfiguredOptions:
    """What `jax.config` makes of the compile options now."""
    flags = jax.config.values
    config = tuple((name, repr(getattr(jax.config, name, flags[name]))) for name in _CONFIG if name in flags)
    return ConfiguredOptions(compile_options(), config)


def build_options() -> frozenset[str]:
    """Names beside XLA's flags that compiler options could have: the attributes of JAX's CompileOptions."""
    options = _compiler.get_compile_options(num_replicas=1, num_partitions=1)
    names = (*dir(options), *dir(options.executable_build_options))
    return frozenset(name for name in names if not name.startswith("_") and name.islower())


def sets_itself(name: str, value: Any) -> bool:
    """Whether JAX takes a compiler option of this name for its CompileOptions, and does not pass it to XLA."""
    options = _compiler.get_compile_options(1, 1, env_options_overrides={name: value})
    return name not in dict(options.env_option_overrides)


def version() -> str:
    """The version of JAX."""
    return str(jax.__version__)


def jaxlib_version() -> str:
    """The version of the jaxlib that this process has loaded."""
    return str(jaxlib.version.__version__)
