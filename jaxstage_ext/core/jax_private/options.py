"""Compile options as JAX and jaxlib know them, and the library that holds XLA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jaxlib
from jax._src import compiler as _compiler


def xla_library() -> Path:
    """The shared library that holds XLA."""
    return Path(jaxlib.__file__).with_name("libjax_common.so")


def compile_options() -> bytes:
    """The serialised CompileOptionsProto that JAX compiles with where no option is set."""
    options = _compiler.get_compile_options(num_replicas=1, num_partitions=1)
    return bytes(options.SerializeAsString())


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
