"""A `jax.stages.Lowered` of a StableHLO module that JAX did not lower here."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir as _mlir
from jaxlib.mlir import ir as _ir

PROPAGATES = "jaxstage propagates"
"""Under which the arguments of a compile hold, of parameters and results, to which shardings may be propagated."""


class ModuleValue(NamedTuple):
    """A parameter or a result of a module.

    Attributes:
      dtype: the name of its dtype in JAX.   is_sharded: whether the module says its sharding.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    is_sharded: bool = False


def lowered_of_module(
    bytecode: bytes, arguments: Sequence[ModuleValue], results: Sequence[ModuleValue], devices: int, platform: str
) -> Any:
    """The Lowered of a module with these values, in bytecode that another process has checked.

    It is that of a function of the same signature, with the module in the place of its own.
    """
    with jax.enable_x64(True):
        shapes = [_shape(value) for value in arguments]
        outs = [_shape(value) for value in results]
        made = jax.jit(lambda *_: [jnp.zeros(out.shape, out.dtype) for out in outs], keep_unused=True)
        lowered = made.trace(*shapes).lower(lowering_platforms=(platform,))
    lowering = copy.copy(lowered._lowering)
    context = _mlir.make_ir_context()
    with context, _ir.Location.unknown(context):
        lowering._hlo = _ir.Module.parse(bytecode, context)
    propagates = tuple([not value.is_sharded for value in values] for values in (arguments, results))
    lowering.compile_args = {**lowering.compile_args, "num_devices": devices, PROPAGATES: propagates}
    lowering._device_list = None
    lowering._executable = None
    lowered._lowering = lowering
    return lowered


def _shape(value: ModuleValue) -> Any:
    return jax.ShapeDtypeStruct(value.shape, jnp.dtype(value.dtype))  # type: ignore[no-untyped-call]
