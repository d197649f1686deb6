"""A Lowered for several platforms, as JAX would compile it on one of them."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np
from jax._src.interpreters import mlir as _mlir
from jaxlib.mlir import ir as _ir
from jaxlib.mlir.dialects import stablehlo as _stablehlo


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
