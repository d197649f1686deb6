"""The parts of a persistent cache key: the very bytes that JAX hashes, one part at a time.

JAX's own functions feed them to its digest; here they feed a list. `KeyBytes.key` hashes them once more, so that the
parts can be checked against JAX's key.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import jaxlib
import numpy as np
from jax._src import cache_key as _cache_key
from jax._src import config as _config
from jax._src.interpreters import mlir as _mlir
from jax._src.interpreters import pxla as _pxla
from jaxlib import xla_client as _client
from jaxlib.mlir import ir as _ir

from jaxstage_ext.core.jax_private.flag_bytes import fed, flag_bytes
from jaxstage_ext.core.jax_private.lowered_modules import own_options
from jaxstage_ext.core.jax_private.persistent_cache import CacheRequest, compression

_key_any: Any = _cache_key
_config_any: Any = _config
_pxla_any: Any = _pxla
_xla_client: Any = _client
_OPTION_PARTS = ("env_option_overrides", "executable_build_options", "debug_options")


class KeyPart(enum.Enum):
    """The parts of a key, in the order in which JAX hashes them."""

    COMPUTATION = "StableHLO"
    JAXLIB = "jaxlib version"
    BACKEND = "backend"
    FLAGS = "XLA flags"
    OPTIONS = "compile options"
    DEVICES = "devices"
    COMPRESSION = "compression"
    HOOK = "custom hook"


@dataclass(frozen=True, slots=True)
class KeyBytes:
    """The parts of one key, as pieces that JAX hashes one after the other."""

    module_name: str
    parts: Mapping[KeyPart, tuple[bytes, ...]]

    @property
    def key(self) -> str:
        """The key that these parts make."""
        digest = hashlib.sha256()
        for part in KeyPart:
            for piece in self.parts[part]:
                digest.update(piece)
        return f"{self.module_name}-{digest.hexdigest()}"


def key_bytes(request: CacheRequest, flags: tuple[bytes, ...] | None = None) -> KeyBytes:
    """The parts of a compile's key; with the XLA flags of that time, or else with those of now."""
    options_copy = {"strip_device_assignment": request.backend.platform == "gpu"}
    return KeyBytes(
        request.module_name,
        {
            KeyPart.COMPUTATION: fed(_key_any._hash_computation, request.module, _ignored_callbacks()),
            KeyPart.JAXLIB: (jaxlib.version.__version__.encode(),),
            KeyPart.BACKEND: fed(_key_any._hash_platform, request.backend),
            KeyPart.FLAGS: flag_bytes() if flags is None else flags,
            KeyPart.OPTIONS: fed(_key_any._hash_serialized_compile_options, request.options, **options_copy),
            KeyPart.DEVICES: fed(_key_any._hash_accelerator_config, request.devices),
            KeyPart.COMPRESSION: (compression().encode(),),
            KeyPart.HOOK: fed(lambda tee: _key_any._hash_string(tee, _key_any.custom_hook())),
        },
    )


def _ignored_callbacks() -> Any:
    removes = bool(_config_any.remove_custom_partitioning_ptr_from_cache_key.value)
    if not hasattr(_key_any, "IgnoreCallbacks"):
        return removes
    ignore = _key_any.IgnoreCallbacks
    return ignore.CUSTOM_PARTITIONING if removes else ignore.NO


def without_addresses() -> Any:
    """What makes JAX's hash of a module leave out the addresses of Python callbacks, which differ by process."""
    return _key_any.IgnoreCallbacks.ALL if hasattr(_key_any, "IgnoreCallbacks") else True


def request_of(lowered: Any, given: Mapping[str, Any] = MappingProxyType({})) -> CacheRequest:
    """What JAX would ask the cache when it compiles a `jax.stages.Lowered` with these compiler options.

    Raises AttributeError, KeyError or TypeError for anything else, and for a lowering without devices.
    """
    asked = request_without_key(lowered, given)
    return dataclasses.replace(asked, key=key_bytes(asked).key)


def request_without_key(lowered: Any, given: Mapping[str, Any] = MappingProxyType({})) -> CacheRequest:
    """The same with an empty key, which takes as long as hashing the module. Raises the same."""
    lowering = lowered._lowering
    args, module = lowering.compile_args, lowering.stablehlo()
    devices = np.empty(len(lowering._device_list), dtype=object)
    devices[:] = list(lowering._device_list)
    inputs, outputs = _pxla_any.get_prop_to_input_output(
        args["in_shardings"], args["out_shardings"], len(args["ordered_effects"])
    )
    options = _pxla_any.create_compile_options(
        module, args["tuple_args"], inputs, outputs, args["backend"], devices, own_options(lowered) | dict(given)
    )
    name = _ir.StringAttr(module.operation.attributes["sym_name"]).value
    return CacheRequest("", name, module, devices, options, args["backend"], bool(args["host_callbacks"]))


def request_of_artefacts(module: Any, options: Any, devices: Sequence[Any], key: str) -> CacheRequest:
    """The compile that a module, its options and its devices were kept of, with its key."""
    array = np.empty(len(devices), dtype=object)
    array[:] = list(devices)
    name = _ir.StringAttr(module.operation.attributes["sym_name"]).value
    return CacheRequest(key, name, module, array, options, devices[0].client, False)


def stablehlo_text(bytecode: bytes) -> str:
    """The text of a key's StableHLO. Raises ValueError where this jaxlib cannot read it, as another one's."""
    try:
        with _mlir.make_ir_context():
            return str(_ir.Module.parse(bytecode).operation.get_asm(large_elements_limit=16))
    except Exception as error:
        raise ValueError(f"this jaxlib cannot read the recorded StableHLO: {type(error).__name__}") from None


def option_fields(options: bytes) -> dict[str, str]:
    """The fields of serialised CompileOptions that are not XLA flags; the user's own are `compiler_options.name`.

    Raises whatever jaxlib does for bytes that are none, as another version's may be.
    """
    parsed = _xla_client.CompileOptions.ParseFromString(options)
    fields = {f"compiler_options.{name}": str(value) for name, value in parsed.env_option_overrides}
    for holder in (parsed, parsed.executable_build_options):
        for name in dir(holder):
            if name.islower() and not name.startswith("_") and name not in _OPTION_PARTS:
                with contextlib.suppress(Exception):  # a field that has no Python form
                    value = getattr(holder, name)
                    if not callable(value):
                        fields[name] = str(value)
    return fields


def device_words(devices: Any) -> str:
    """What the fingerprint of the devices stands for: `1 of 4 cpu devices`."""
    flat = list(devices.flat)
    client = flat[0].client
    kinds = "/".join(sorted({str(device.device_kind) for device in flat}))
    return f"{len(flat)} of {client.device_count()} {kinds} devices"
