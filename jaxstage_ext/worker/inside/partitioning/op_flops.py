"""Floating-point operations of matrix products and convolutions at their global shapes."""

from __future__ import annotations

import math
from typing import Any

_DOTS = ("stablehlo.dot_general", "stablehlo.dot")


def flops(operation: Any, rule: tuple[Any, ...] | None, shapes: list[tuple[int, ...]]) -> float | None:
    """Two for each multiplication and addition; None of other operations. `shapes` are of operands, then results."""
    if operation.name in _DOTS and rule is not None:
        return 2.0 * float(math.prod(rule[0]))
    if operation.name == "stablehlo.convolution":
        return _convolution(operation, shapes)
    return None


def precision(operation: Any) -> int:
    """The highest precision that a product asks for: 0 default, 1 high, 2 highest."""
    if "precision_config" not in operation.attributes:
        return 0
    written = str(operation.attributes["precision_config"])
    return 2 if "HIGHEST" in written else int("HIGH" in written)


def _convolution(operation: Any, shapes: list[tuple[int, ...]]) -> float:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    numbers = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    groups = int(ir.IntegerAttr(operation.attributes["batch_group_count"]).value)
    _, kernel, result = shapes[:3]
    taps = math.prod(kernel) // max(kernel[numbers.kernel_output_feature_dimension], 1)
    return 2.0 * math.prod(result) * taps / (groups if groups else 1)
