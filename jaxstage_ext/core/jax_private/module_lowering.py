"""A `jax.stages.Lowered` of a StableHLO module that JAX did not lower here, and the platforms that JAX lowers for.

Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import mlir as _mlir
from jaxlib import xla_client as _xla_client
from jaxlib.mlir import ir as _ir
from jaxlib.mlir.dialects import stablehlo as _stablehlo

from jaxstage_ext.report.unavailable import Unavailable

_BOUNDS = "#stablehlo.bounds<"
"""In a type whose sizes have a bound, with which XLA compiles it."""
_WRITTEN = "jaxstage module"
"""Under which the arguments of a compile hold the WrittenModule."""


class ModuleValue(NamedTuple):
    """A parameter or a result of a module, of a tuple each element."""

    name: str
    shape: tuple[int | None, ...]
    """None in place of a size that is not known."""
    dtype: str
    """The name of its dtype in JAX; "" where it is not an array of numbers."""
    sharding: str = ""
    """As the module writes it; "" where it leaves it to the compiler."""
    type: str = ""
    """As MLIR writes it, cut short."""
    is_donated: bool = False
    """Whether a result may take its memory."""

    @property
    def is_array(self) -> bool:
        return bool(self.dtype) and None not in self.shape

    @property
    def bits(self) -> int | None:
        """The width of an element; None where it is not a number."""
        if not self.dtype:
            return None
        dtype = jnp.dtype(self.dtype)
        if jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.integer):
            return int((jnp.finfo if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo)(dtype).bits)
        return dtype.itemsize * 8

    @property
    def size(self) -> int | None:
        """Bytes of the whole array; None where they are not known."""
        known = [size for size in self.shape if size is not None]
        return None if self.bits is None or len(known) < len(self.shape) else math.prod(known) * self.bits // 8


@dataclass(frozen=True)
class WrittenModule:
    """A module that another process wrote."""

    bytecode: bytes = field(repr=False)
    """Of the module."""
    compiled: bytes = field(repr=False)
    """As XLA takes it; empty where that is the same."""
    arguments: tuple[ModuleValue, ...]
    results: tuple[ModuleValue, ...]
    propagates: tuple[Sequence[bool], Sequence[bool]]
    """For each of XLA's parameters and results whether XLA is to choose its sharding."""
    partitions: int
    replicas: int
    """`partitions`, `replicas`: what it is for."""
    is_gspmd: bool
    """Whether its shardings are those of before Shardy, whose partitioner then takes it."""
    platform: str = ""
    """Whose libraries it calls, "cpu", "cuda", "rocm" or "tpu"; "" where it calls none."""

    @property
    def devices(self) -> int:
        return self.partitions * self.replicas


def written_module(lowered: Any) -> WrittenModule | None:
    """What another process wrote that a Lowered is of; None of what JAX lowered here."""
    args = getattr(getattr(lowered, "_lowering", None), "compile_args", None)
    found: WrittenModule | None = args.get(_WRITTEN) if args else None
    return found


def is_gspmd(lowered: Any) -> bool:
    """Whether a Lowered is of a module whose shardings are those of before Shardy."""
    written = written_module(lowered)
    return written is not None and written.is_gspmd


def lowered_of_module(written: WrittenModule, platform: str) -> Any:
    """The Lowered of a module, in bytecode that another process has checked.

    It is that of a function of as many arguments, with the module in the place of its own.
    """
    with jax.enable_x64(True):
        shapes = [_shape(value) for value in written.arguments]
        outs = [_shape(value) for value in written.results]
        empty: Any = jax.lax.empty  # untyped
        made = jax.jit(lambda *_: [empty(out.shape, out.dtype) for out in outs], keep_unused=True)
        lowered = made.trace(*shapes).lower(lowering_platforms=(platform,))
    lowering = copy.copy(lowered._lowering)
    context = _mlir.make_ir_context()
    context.allow_unregistered_dialects = True  # as in a file that is shown and not compiled
    with context, _ir.Location.unknown(context):
        lowering._hlo = _ir.Module.parse(written.bytecode, context)
    lowering.compile_args = {**lowering.compile_args, "num_devices": written.devices, _WRITTEN: written}
    lowering._device_list = None
    lowering._executable = None
    lowered._lowering = lowering
    return lowered


def _shape(value: ModuleValue) -> Any:
    """Its type, in the place of a value that is not an array an empty one."""
    if not value.is_array:
        return jax.ShapeDtypeStruct((0,), jnp.bool_)  # type: ignore[no-untyped-call]
    return jax.ShapeDtypeStruct(value.shape, jnp.dtype(value.dtype))  # type: ignore[no-untyped-call]


def check_sizes(written: WrittenModule) -> None:
    """Raise Unavailable where a size is not known, which XLA does not compile."""
    for place, value in enumerate(written.arguments):
        if None in value.shape and _BOUNDS not in value.type:
            raise Unavailable(
                f"{value.name or f'argument {place}'} is {value.type}: XLA compiles known sizes alone; export the "
                "function with them, or open what jax.export serialised with dims={'b': 8}"
            )


def set_for(written: WrittenModule, options: Any, device_ids: Sequence[int]) -> None:
    """Set what compile options say of partitioner and replicas to what the module was written for."""
    if written.is_gspmd:
        options.executable_build_options.use_shardy_partitioner = False
    if written.replicas > 1:
        ids = np.array(device_ids).reshape(written.replicas, written.partitions)
        options.num_replicas, options.num_partitions = ids.shape
        options.device_assignment = _xla_client.DeviceAssignment.create(ids)


def platforms_of(primitive: str) -> list[str]:
    """The platforms for which a primitive has a rule of its own, by its name."""
    rules = _mlir._platform_specific_lowerings
    return sorted(platform for platform, known in rules.items() if any(one.name == primitive for one in known))


def for_platform(lowered: Any, platform: str) -> Any:
    """The Lowered with the number of this platform in place of the parameter `_platform_index`.

    JAX's own `.compile()` refuses a Lowered of several platforms. The platform must be one of its own.
    """
    platforms = tuple(lowered._lowering._platforms)
    if len(platforms) < 2:
        return lowered
    chosen, lowering = copy.copy(lowered), copy.copy(lowered._lowering)
    lowering._hlo = _with_platform(lowering._hlo, platforms.index(platform))
    lowering._platforms, lowering._executable = (platform,), None
    chosen._lowering = lowering
    return chosen


def _with_platform(module: Any, number: int) -> Any:
    context = module.context
    with context, _ir.Location.unknown(context):
        made = _ir.Module.parse(_mlir.module_to_bytecode(module), context)
        main = next(op for op in made.body.operations if str(op.attributes["sym_name"]) == '"main"')
        block, attributes = main.regions[0].blocks[0], cast(Any, main.attributes["arg_attrs"])
        if not len(block.arguments) or _PLATFORM_INDEX not in str(attributes[0]):
            return made
        with _ir.InsertionPoint.at_block_begin(block):
            constant = _stablehlo.constant(_ir.DenseElementsAttr.get(np.array(number, np.int32)))
        block.arguments[0].replace_all_uses_with(constant)
        block.erase_argument(0)
        signature = _ir.FunctionType(_ir.TypeAttr(main.attributes["function_type"]).value)
        main.attributes["function_type"] = _ir.TypeAttr.get(
            _ir.FunctionType.get(signature.inputs[1:], signature.results)
        )
        main.attributes["arg_attrs"] = _ir.ArrayAttr.get(list(attributes)[1:])
    return made


_PLATFORM_INDEX = "_platform_index"
