"""A compile that is about to begin: what JAX hands to XLA, without what differs between equal processes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jaxlib
from jax._src import cache_key as _cache_key
from jaxlib.mlir import ir as _ir
from jaxlib.mlir import passmanager as _passes

from jaxstage_ext.core.jax_private import cache_key_parts, compile_frames, flag_bytes, lowered_modules
from jaxstage_ext.core.jax_private.compile_frames import EventFrames, local

_key_any: Any = _cache_key
_CUSTOM_CALL = b"custom_call"
"""Of a module that may hold addresses, among its names of operations."""


@dataclass(frozen=True, eq=False)
class PendingCompile:
    """What JAX is about to compile. It holds the module: drop it when the event is over."""

    name: str
    """Of the module, such as "jit_step"."""
    module: Any
    """None, as its options, of what was only traced."""
    options: Any
    devices: tuple[Any, ...]
    jaxpr: Any
    """The closed jaxpr that the module was lowered from; None where no frame has it."""

    @property
    def processes(self) -> tuple[int, ...]:
        """The indices of the processes whose devices the program runs on, rising."""
        return tuple(sorted({int(device.process_index) for device in self.devices}))

    @property
    def device_ids(self) -> tuple[int, ...]:
        """The ids of the devices in the program's order."""
        return tuple(int(device.id) for device in self.devices)

    def module_digest(self) -> str:
        """Of the StableHLO without locations and without addresses of Python callbacks: SHA-256, 32 hex digits."""
        plain = _bytecode(self.module)
        if _CUSTOM_CALL in plain:
            return _digest([_key_any._canonicalize_ir(self.module, cache_key_parts.without_addresses())])
        return _digest([plain])

    def options_digest(self) -> str:
        """Of the compile options without those that say where to write dumps: SHA-256, 32 hex digits."""
        strip = {"strip_device_assignment": True}
        return _digest(flag_bytes.fed(_key_any._hash_serialized_compile_options, self.options, **strip))

    def option_texts(self) -> dict[str, str]:
        """The fields of the compile options; none of a mere trace."""
        if self.options is None:
            return {}
        return cache_key_parts.option_fields(self.options.SerializeAsString())


def pending_compile(frames: EventFrames) -> PendingCompile | None:
    """What begins with a compile event; None where JAX's frames do not have it."""
    module, options, devices = (local(frames.stage, name) for name in ("computation", "compile_options", "da"))
    if module is None or options is None or devices is None:
        return None
    return PendingCompile(_name_of(module), module, options, tuple(devices), compile_frames.traced(frames))


def _name_of(module: Any) -> str:
    name: str = _ir.StringAttr(module.operation.attributes["sym_name"]).value
    return name


def of_lowered(lowered: Any, jaxpr: Any, given: Mapping[str, Any]) -> PendingCompile | None:
    """What the compile of a `jax.stages.Lowered` with these compiler options would begin with.

    Of one that names no devices, neither these nor options are known; None of anything else.

    Args:
      lowered: the `jax.stages.Lowered`.
      given: compiler options, beside those of the function.
      jaxpr: the closed jaxpr that it was lowered from; None where there is none.
    """
    try:
        asked = cache_key_parts.request_without_key(lowered, given)
    except (AttributeError, KeyError, TypeError):
        module = lowered_modules.module_of_lowered(lowered)
        return None if module is None else PendingCompile(_name_of(module), module, None, (), jaxpr)
    return PendingCompile(asked.module_name, asked.module, asked.options, tuple(asked.devices.flat), jaxpr)


def spans_processes(frames: EventFrames) -> bool:
    """Whether the program that is about to be compiled has devices of another process. It costs microseconds."""
    devices = local(frames.stage, "da")
    return devices is not None and not devices.is_fully_addressable


def environment(client: Any) -> dict[str, str]:
    """What decides how XLA compiles beside the program: versions, and flags that do not only say where to dump."""
    flags = sorted(flag.decode() for flag in flag_bytes.flag_bytes())
    versions = {"jax": jax.__version__, "jaxlib": jaxlib.version.__version__}
    return {**versions, "platform": client.platform, "plugin": client.platform_version, "XLA flags": " ".join(flags)}


def _bytecode(module: Any) -> bytes:
    """A module without locations. JAX's own function walks through its operations in Python, three times as long."""
    output = io.BytesIO()
    with module.context:
        copy = module.operation.clone(ip=False)
        _passes.PassManager.parse("builtin.module(strip-debuginfo)").run(copy.operation)
        copy.operation.write_bytecode(output)
    return output.getvalue()


def text_digest(text: str) -> str:
    """SHA-256 of a text, 32 hex digits."""
    return _digest([text.encode()])


def _digest(pieces: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(pieces)).hexdigest()[:32]
