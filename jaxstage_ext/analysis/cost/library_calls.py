"""FLOPs of custom calls: products and convolutions of libraries by their shapes, others by the estimate they carry."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from jaxstage_ext.analysis.cost import windows
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.schema import INSTRUCTION_SHAPE as SHAPE

_TARGET, _BACKEND = 28, 43
_TUPLE_SHAPES, _DIMENSIONS = 4, 3
_FREE = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "AllocateBuffer",
    "LayoutConstraint",
    "annotate_device_placement",
    "AssumeGatherIndicesInBound",
    "AssumeGatherIndicesInBound",
    "AsyncCollectiveStart",
    "AsyncCollectiveDone",
    "ConcatBitcast",
)
"""Targets that compute nothing: markers of the partitioner, and those by which libtpu names memory and starts DMA."""
_GEMMS = ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8", "__triton_gemm")


def count(ops: Module) -> Iterator[tuple[int, float, float, str]]:
    """(instruction, FLOPs, transcendentals, why they are not known or "") of each custom call; NaN unknown."""
    rows = ops.rows(b"custom-call")
    fields = ops.fields(rows, _TARGET, _BACKEND)
    targets, configs = (ops.strings(fields[number], len(rows)) for number in (_TARGET, _BACKEND))
    for row, target, config, first in zip(rows.tolist(), targets, configs, _first_arrays(ops, rows), strict=True):
        yield row, *_count_call(ops, row, target.decode("utf-8", "replace"), _json(config), first)


def _count_call(
    ops: Module, row: int, target: str, config: dict[str, Any], first: list[int]
) -> tuple[float, float, str]:
    if target in _FREE:
        return 0.0, 0.0, ""
    result = ops.shapes.sizes(row) if ops.shapes.rank[row] else first
    if target in _GEMMS:
        return _gemm(ops.shapes.sizes(ops.operands[row][0]), result, config, target)
    if target.startswith("__cudnn$conv"):
        return _cudnn(ops, row, target, first), 0.0, ""
    estimate = config.get("custom_call_config", {}).get("cost_estimate", {})
    if "flops" in estimate:
        return float(estimate["flops"]), float(estimate.get("transcendentals", 0)), ""
    return math.nan, 0.0, f"{target} is a custom call without a cost estimate"


def _gemm(lhs: list[int], result: list[int], config: dict[str, Any], target: str) -> tuple[float, float, str]:
    """Two for each multiply-add of a library's matrix product."""
    numbers = config.get("gemm_backend_config", config).get("dot_dimension_numbers")
    if numbers is None:
        return math.nan, 0.0, f"the configuration of {target} does not say what it contracts"
    contracted = math.prod(lhs[int(axis)] for axis in numbers.get("lhs_contracting_dimensions", []))
    return 2.0 * math.prod(result) * contracted, 0.0, ""


def _first_arrays(ops: Module, rows: Any) -> list[list[int]]:
    """Of each instruction the dimensions of the first array of its tuple; none where it gives no tuple."""
    shape = ops.fields(rows, SHAPE)[SHAPE]
    inner = ops.inside(shape, _TUPLE_SHAPES)[_TUPLE_SHAPES]
    sizes = ops.lists(ops.inside(inner, _DIMENSIONS)[_DIMENSIONS], len(inner.row))
    result: list[list[int]] = [[] for _ in rows]
    for place in reversed(range(len(inner.row))):
        result[int(shape.row[inner.row[place]])] = sizes[place]
    return result


def _cudnn(ops: Module, row: int, target: str, result: list[int]) -> float:
    """A convolution of the library: the same sizes as HLO's own, with its gradients' operands in their places."""
    operands = [ops.shapes.sizes(operand) for operand in ops.operands[row][:2]]
    if target.endswith("BackwardInput"):
        lhs, rhs, out = result, operands[1], operands[0]
    elif target.endswith("BackwardFilter"):
        lhs, rhs, out = operands[0], result, operands[1]
    else:
        lhs, rhs, out = *operands, result
    return windows.multiply_adds(ops, row, lhs, rhs, out)


def _json(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
