"""Compile options as JAX and jaxlib know them, and the library that holds XLA."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jaxlib
from jax._src import compiler as _compiler
from jax._src import xla_bridge as _xla_bridge
from jaxlib import xla_client as _xla_client


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


_OWN_CONFIG = re.compile(r"_dir|_dump|_log|cache|process|coordinator|traceback|pgle|profiler|recoverab")
"""Names of the entries of `jax.config` that each process may have its own of, with the same programs."""


def config_texts() -> dict[str, str]:
    """The entries of `jax.config` that may decide what a program is, as texts."""
    values: Any = jax.config.values
    return {name: str(value)[:_LONGEST_VALUE] for name, value in values.items() if not _OWN_CONFIG.search(name)}


_LONGEST_VALUE = 200
PROFILED = ("xla_gpu_enable_command_buffer", "")
"""What JAX sets for runs whose profile guides a later compile, `jax_enable_pgle` (`_resolve_compilation_strategy`)."""

_CONFIG = (
    "jax_disable_most_optimizations",
    "jax_optimization_level",
    "jax_memory_fitting_level",
    "jax_exec_time_optimization_effort",
    "jax_memory_fitting_effort",
    "jax_compiler_enable_remat_pass",
    "jax_use_shardy_partitioner",
    "jax_xla_profile_version",
    "jax_compilation_cache_dir",
    "jax_persistent_cache_enable_xla_caches",
    "jax_enable_pgle",
    "jax_compilation_cache_expect_pgle",
)
"""The entries of `jax.config` that compile options follow (`get_compile_options`, jax 0.10.2 to 0.12.0.1)."""


BuildFields = dict[str, str]
_FIELDS = (
    "use_spmd_partitioning",
    "use_shardy_partitioner",
    "exec_time_optimization_effort",
    "memory_fitting_effort",
    "optimization_level",
    "memory_fitting_level",
)
_IMPLIED = {
    "xla_backend_optimization_level": "jax_disable_most_optimizations",
    "xla_llvm_disable_expensive_passes": "jax_disable_most_optimizations",
    "xla_test_all_input_layouts": "jax_disable_most_optimizations",
    "xla_disable_hlo_passes": "jax_compiler_enable_remat_pass",
    "xla_gpu_kernel_cache_file": "jax_persistent_cache_enable_xla_caches",
    "xla_gpu_per_fusion_autotune_cache_dir": "jax_persistent_cache_enable_xla_caches",
    "xla_gpu_experimental_autotune_cache_mode": "jax_persistent_cache_enable_xla_caches",
    "profile_version": "jax_xla_profile_version",
    "fdo_profile": "jax_enable_pgle",
    PROFILED[0]: "jax_enable_pgle",
    **{name: f"jax_{name}" for name in _FIELDS},
}
"""The entry of `jax.config` that sets a compile option (`get_compile_options`, jax 0.10.2 to 0.12.0.1)."""


def plain_options() -> bytes:
    """The serialised CompileOptionsProto that XLA has for itself, XLA_FLAGS included."""
    return bytes(_xla_client.CompileOptions().SerializeAsString())


def build_fields(options: bytes) -> BuildFields:
    """The fields of a CompileOptionsProto that are no flags and do not describe devices, as text."""
    read: Any = _xla_client.CompileOptions.ParseFromString(options)
    build = read.executable_build_options
    fields = {name: _field_text(name, getattr(build, name)) for name in _FIELDS if hasattr(build, name)}
    return {**fields, "profile_version": str(read.profile_version)}


def _field_text(name: str, value: Any) -> str:
    """`19 (O1)`, `0.3`: XLA's number of a level with its name, and an effort without what float32 adds."""
    if name.endswith("_level"):
        known = {9: "O0", 19: "O1", 29: "O2", 39: "O3"}
        return f"{value} ({known[value]})" if value in known else str(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_DEFAULTS = {
    "jax_use_shardy_partitioner": "True",
    "jax_memory_fitting_level": "'O2'",
    "jax_optimization_level": "'UNKNOWN'",
    "jax_xla_profile_version": "0",
    "jax_exec_time_optimization_effort": "0.0",
    "jax_memory_fitting_effort": "0.0",
}
"""JAX's own defaults of the entries that set a compile option even so."""


def config_of_flag(name: str, configured: ConfiguredOptions) -> str:
    """The entry of `jax.config`, or its variable, that set a compile option; "" where JAX does so by itself."""
    entry = _IMPLIED.get(name, "")
    value = dict(configured.config).get(entry)
    if value is None or value == _DEFAULTS.get(entry):
        return ""
    return entry.upper() if entry in configured.by_variable else entry


@dataclass(frozen=True)
class ConfiguredOptions:
    """What `jax.config` makes of the compile options, or of those of one compile."""

    options: bytes
    """Serialised."""
    config: tuple[tuple[str, str], ...] = field(compare=False)
    """The entries of `jax.config` that they follow."""
    by_variable: frozenset[str] = field(default=frozenset(), compare=False)
    """Of these, the entries that have the value of their environment variable."""

    def changes_to(self, later: ConfiguredOptions) -> list[str]:
        """The entries that differ, as "name was a, is b"."""
        was = dict(self.config)
        return [f"{name} was {was[name]}, is {value}" for name, value in later.config if value != was[name]]


def configured_options() -> ConfiguredOptions:
    """What `jax.config` makes of the compile options now."""
    return _configured(compile_options())


def expected_options(module: Any, backend: Any) -> ConfiguredOptions:
    """What JAX would give XLA for a module now. `backend` is None for one that is not here."""
    given = {"detailed_logging": _compiler.use_detailed_logging(module), "backend": backend}
    return _configured(bytes(_compiler.get_compile_options(1, 1, **given).SerializeAsString()))


def guided_by_profile(options: bytes) -> dict[str, str]:
    """What a CompileOptionsProto has where JAX profiles runs for a later compile, or compiles with their profile."""
    read: Any = _xla_client.CompileOptions.ParseFromString(options)
    profile = read.executable_build_options.fdo_profile
    found = {"fdo_profile": f"{len(profile):,} bytes"} if profile else {}
    return found | {name: value for name, value in read.env_option_overrides if (name, value) == PROFILED}


def propagation(options: bytes) -> dict[str, tuple[bool, ...]]:
    """Which arguments and results of a program of several devices XLA may choose the sharding of."""
    read: Any = _xla_client.CompileOptions.ParseFromString(options)
    if read.num_partitions < 2:
        return {}
    names = [name for name in dir(read.executable_build_options) if name.startswith("allow_spmd_sharding_propagation")]
    return {name: tuple(getattr(read.executable_build_options, name)) for name in sorted(names, reverse=True)}


def recorded_options(options: Any) -> ConfiguredOptions:
    """JAX's CompileOptions of a compile that is under way, with the configuration of this moment."""
    return _configured(bytes(options.SerializeAsString()))


def _configured(options: bytes) -> ConfiguredOptions:
    flags = jax.config.values
    config = tuple((name, repr(getattr(jax.config, name, flags[name]))) for name in _CONFIG if name in flags)
    by_variable = frozenset(name for name, value in config if _is_of_variable(name, value))
    return ConfiguredOptions(options, config, by_variable)


def _is_of_variable(name: str, value: str) -> bool:
    """Whether an entry of `jax.config` has the value of its variable; JAX read that when it was imported."""
    text = os.environ.get(name.upper())
    if text is None:
        return False
    if value in ("True", "False"):
        return (text.lower() in ("y", "yes", "t", "true", "on", "1")) is (value == "True")
    return value.strip("'") == text


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
