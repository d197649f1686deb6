"""FLOPs of custom calls: of libraries' products, convolutions, factorisations and selections by their shapes, of others
by the estimate that they carry.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jaxstage_ext.analysis.cost.rules import linear_algebra, linear_algebra_calls, windows
from jaxstage_ext.analysis.cost.rules.linear_algebra_calls import Operands
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.schema import INSTRUCTION_SHAPE as SHAPE

COMPLEX_TYPES = (15, 18)
"""PrimitiveType of c64 and c128 in xla_data.proto."""
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
    "GatherScatterIndicesBitpacked",
    "X64Split",
    "X64SplitLow",
    "X64SplitHigh",
    "X64Combine",
    "PadToStatic",
    "SliceToDynamic",
    "cu_lu_pivots_to_permutation",
    "hip_lu_pivots_to_permutation",
    "AsyncCollectiveStart",
    "AsyncCollectiveDone",
    "ConcatBitcast",
)
"""Targets that compute nothing: markers of the partitioner, those by which libtpu names memory and starts DMA, those
that split a 64-bit number into two halves, and those that pad or permute indices."""
_GELU = 8
"""x/2 (1 + tanh(c (x + d x³))) for one number, without tanh."""
_KERNEL, _RAGGED_INDICES = "tpu_custom_call", b"ragged-dot-metadata"
"""libtpu's kernel that turns group sizes into indices of tiles computes nothing but these."""
_GEMMS = ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8", "__triton_gemm")


class CustomCall(NamedTuple):
    """A custom call: its row, its target, its configuration, the dimensions of the first array that it gives."""

    row: int
    target: str
    config: dict[str, Any]
    result: list[int]


class Counted(NamedTuple):
    """FLOPs, NaN unknown; transcendentals; why the FLOPs are unknown, else ""."""

    flops: float
    transcendentals: float = 0.0
    why: str = ""


def count(ops: Module) -> Iterator[tuple[int, Counted]]:
    """The work of each custom call, by its row."""
    return ((call.row, _count_call(ops, call)) for call in calls(ops))


def calls(ops: Module) -> Iterator[CustomCall]:
    """The custom calls of a module."""
    rows = ops.rows(b"custom-call")
    fields = ops.fields(rows, _TARGET, _BACKEND)
    targets, configs = (ops.strings(fields[number], len(rows)) for number in (_TARGET, _BACKEND))
    for row, target, config, first in zip(rows.tolist(), targets, configs, _first_arrays(ops, rows), strict=True):
        result = ops.shapes.sizes(row) if ops.shapes.rank[row] else first
        yield CustomCall(row, target.decode("utf-8", "replace"), _json(config), result)


def _count_call(ops: Module, call: CustomCall) -> Counted:
    if call.target in _FREE or (call.target == _KERNEL and ops.names[call.row].startswith(_RAGGED_INDICES)):
        return Counted(0.0)
    operands = [ops.shapes.sizes(operand) for operand in ops.operands[call.row] if operand >= 0]
    solved = linear_algebra_calls.of(call.target, Operands(operands, call.result), is_complex(ops, call.row))
    if solved is not None:
        return Counted(math.nan, 0.0, solved) if isinstance(solved, str) else Counted(solved)
    if call.target in _GEMMS:
        return _gemm(ops, call, operands[0])
    if call.target.startswith("__cudnn$conv"):
        return _cudnn(ops, call, operands)
    if (counter := _BY_SHAPE.get(call.target)) is not None:
        return Counted(counter(operands, call))
    estimate = call.config.get("custom_call_config", {}).get("cost_estimate", {})
    if "flops" in estimate:
        return Counted(float(estimate["flops"]), float(estimate.get("transcendentals", 0)))
    return Counted(math.nan, 0.0, f"{call.target} is a custom call without a cost estimate")


def is_complex(ops: Module, row: int) -> bool:
    """Whether an instruction takes complex numbers first."""
    operands = ops.operands[row]
    return bool(operands) and int(ops.shapes.element_type[operands[0]]) in COMPLEX_TYPES


def _gemm(ops: Module, call: CustomCall, lhs: list[int]) -> Counted:
    """Two for each multiply-add of a library's matrix product, and what its epilogue does to each result."""
    config = call.config.get("gemm_backend_config", call.config)
    numbers = config.get("dot_dimension_numbers")
    if numbers is None:
        return Counted(math.nan, 0.0, f"the configuration of {call.target} does not say what it contracts")
    contracted = math.prod(lhs[int(axis)] for axis in numbers.get("lhs_contracting_dimensions", []))
    factor = linear_algebra.COMPLEX if is_complex(ops, call.row) else 1.0
    done = _epilogue(str(config.get("epilogue", "")), math.prod(call.result))
    added = math.prod(call.result) if config.get("beta") else 0
    return Counted(factor * 2.0 * math.prod(call.result) * contracted + done.flops + added, done.transcendentals)


def _epilogue(name: str, results: float) -> Counted:
    """What follows a product or convolution in one call: a bias is an addition, ReLU a maximum, GELU by its tanh."""
    bias = results if "BIAS" in name else 0.0
    if "GELU" in name:
        return Counted(bias + _GELU * results, results)
    return Counted(bias + (results if "RELU" in name else 0.0))


def _first_arrays(ops: Module, rows: Any) -> list[list[int]]:
    """Of each instruction the dimensions of the first array of its tuple; none where it gives no tuple."""
    shape = ops.fields(rows, SHAPE)[SHAPE]
    inner = ops.inside(shape, _TUPLE_SHAPES)[_TUPLE_SHAPES]
    sizes = ops.lists(ops.inside(inner, _DIMENSIONS)[_DIMENSIONS], len(inner.row))
    result: list[list[int]] = [[] for _ in rows]
    for place in reversed(range(len(inner.row))):
        result[int(shape.row[inner.row[place]])] = sizes[place]
    return result


def _cudnn(ops: Module, call: CustomCall, operands: list[list[int]]) -> Counted:
    """A convolution of the library: the same sizes as HLO's own, with its gradients' operands in their places."""
    if call.target.endswith("BackwardInput"):
        lhs, rhs, out = call.result, operands[1], operands[0]
    elif call.target.endswith("BackwardFilter"):
        lhs, rhs, out = operands[0], call.result, operands[1]
    else:
        lhs, rhs, out = *operands[:2], call.result
    done = 0.0
    if "BiasActivation" in call.target:
        mode = str(call.config.get("cudnn_conv_backend_config", {}).get("activation_mode", ""))
        done = math.prod(call.result) * (1.0 + (mode not in ("", "kNone")) + (len(operands) > 3))
    return Counted(windows.multiply_adds(ops, call.row, lhs, rhs, out) + done)


def _onednn_product(operands: Sequence[Sequence[int]], call: CustomCall) -> float:
    is_transposed = bool(call.config.get("onednn_matmul_config", {}).get("transpose_a"))
    return 2.0 * math.prod(call.result) * operands[0][-2 if is_transposed else -1]


def _top_k(operands: Sequence[Sequence[int]], call: CustomCall) -> float:
    return linear_algebra.top_k(math.prod(operands[0]), call.result[-1])


def _partial_reduce(operands: Sequence[Sequence[int]], call: CustomCall) -> float:
    return float(math.prod(operands[0]) - math.prod(call.result))


def _radix_sort(operands: Sequence[Sequence[int]], call: CustomCall) -> float:
    return linear_algebra.sort(math.prod(operands[0]), operands[0][-1])


_BY_SHAPE: dict[str, Callable[[Sequence[Sequence[int]], CustomCall], float]] = {
    "TopK": _top_k,
    "__gpu$TopK": _top_k,
    "PartialReduce": _partial_reduce,
    "__onednn$matmul": _onednn_product,
    "__cub$DeviceRadixSort": _radix_sort,
}


def _json(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
