"""FLOPs and transcendentals of each HLO instruction by itself, once.

Formulas: HloCostAnalysis of XLA (xla/service/hlo_cost_analysis.cc): an elementwise operation counts its result's
elements, a multiply-add counts two, a reduction (elements in - elements out) times its computation, a sort n log2 n.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo_ops import SHAPE, Lists, Operations

Floats = npt.NDArray[np.float64]
_DIMENSIONS, _TUPLE_SHAPES = 3, 4

TRANSCENDENTAL = (
    b"erf", b"exponential", b"exponential-minus-one", b"log", b"log-plus-one", b"logistic", b"power", b"sqrt",
    b"cbrt", b"rsqrt", b"tanh", b"sine", b"cosine", b"tan", b"atan2", b"acos", b"acosh", b"asin", b"asinh", b"atanh",
    b"cosh", b"sinh",
)  # fmt: skip
ELEMENTWISE = (
    b"abs", b"add", b"and", b"ceil", b"clamp", b"compare", b"complex", b"convert", b"count-leading-zeros", b"divide",
    b"floor", b"imag", b"is-finite", b"maximum", b"minimum", b"multiply", b"multiply-add", b"negate", b"not", b"or",
    b"popcnt", b"real", b"reduce-precision", b"remainder", b"round-nearest-afz", b"round-nearest-even", b"select",
    b"shift-left", b"shift-right-arithmetic", b"shift-right-logical", b"sign", b"stochastic-convert", b"subtract",
    b"xor",
)  # fmt: skip
_WINDOW, _CONVOLUTION, _GROUPS, _BATCH_GROUPS = 15, 16, 50, 58
_DOT, _CALL_TARGET, _BACKEND, _FFT_LENGTH = 30, 28, 43, 32


@dataclass(frozen=True, eq=False)
class Counts:
    """Per instruction; NaN in `flops` where they cannot be known, with the reason by row."""

    flops: Floats
    transcendentals: Floats
    unknown: dict[int, str]


def count(ops: Operations) -> Counts:
    """Each instruction once, without what it calls, but for the computation that a reduction applies."""
    flops, transcendentals = np.zeros(len(ops)), np.zeros(len(ops))
    elements = ops.shapes.elements.astype(np.float64)
    for column, names in ((flops, ELEMENTWISE), (transcendentals, TRANSCENDENTAL)):
        rows = ops.rows(*names)
        column[rows] = elements[rows]
    rows = ops.rows(b"rng", b"rng-bit-generator")
    transcendentals[rows] = elements[rows]
    rows = ops.rows(b"all-reduce", b"all-reduce-start", b"reduce-scatter")
    flops[rows] = elements[rows]
    unknown: dict[int, str] = {}
    applied = _Applied(ops, flops, transcendentals)
    for opcode, counter in _COUNTERS.items():
        for row in ops.rows(opcode):
            flops[row], transcendentals[row] = counter(ops, int(row), applied)
    for row in ops.rows(b"custom-call"):
        flops[row], reason = _custom_call(ops, int(row))
        if reason:
            unknown[int(row)] = reason
    return Counts(flops, transcendentals, unknown)


class _Applied:
    """What one application of a computation to scalars costs."""

    def __init__(self, ops: Operations, flops: Floats, transcendentals: Floats) -> None:
        n = len(ops.computations)
        self.flops = np.bincount(ops.computation, flops, n)
        self.transcendentals = np.bincount(ops.computation, transcendentals, n)

    def times(self, computation: int, number: float) -> tuple[float, float]:
        return float(self.flops[computation] * number), float(self.transcendentals[computation] * number)


def _operand_elements(ops: Operations, row: int, place: int) -> int:
    return int(ops.shapes.elements[ops.operands[row][place]])


def _first_result(ops: Operations, row: int) -> int:
    """Elements of the result, or of the first array of a tuple of equal ones."""
    arrays = max(1, len(ops.operands[row]) // 2) if ops.opcode[row] == b"reduce" else 1
    return int(ops.shapes.elements[row]) // arrays


def _reduce(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    return applied.times(ops.called[row][0], _operand_elements(ops, row, 0) - _first_result(ops, row))


def _map(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    return applied.times(ops.called[row][0], int(ops.shapes.elements[row]))


def _scatter(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    return applied.times(ops.called[row][0], _operand_elements(ops, row, -1))


def _sort(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    elements = _operand_elements(ops, row, 0)
    return float(elements * math.ceil(math.log2(elements))) if elements > 1 else 0.0, 0.0


def _fft(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    """Eight for each element and each level of the transform: a complex multiply-add of four real ones."""
    lengths = _list(ops, ops.fields(np.array([row]), _FFT_LENGTH)[_FFT_LENGTH])
    complex_ones = max(int(ops.shapes.elements[row]), _operand_elements(ops, row, 0))
    return 8.0 * complex_ones * sum(math.log2(length) for length in lengths if length > 1), 0.0


def _reduce_window(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    """Padding and holes of the window meet no element and are left out."""
    sizes, window = ops.shapes.sizes(ops.operands[row][0]), _window(ops, row)
    arrays = max(1, len(ops.operands[row]) // 2)
    results = int(ops.shapes.elements[row]) // arrays
    out = ops.shapes.sizes(row) or [_outputs(size, dimension) for size, dimension in zip(sizes, window, strict=True)]
    met = math.prod(
        _valid(size, dimension.get(1, 1), to, dimension) for size, to, dimension in zip(sizes, out, window, strict=True)
    )
    return applied.times(ops.called[row][0], max(0, met - results))


def _outputs(size: int, window: dict[int, int]) -> int:
    """How many places a window has along a dimension."""
    spread = (size - 1) * (window.get(6, 1) or 1) + 1 + window.get(3, 0) + window.get(4, 0)
    reach = (window.get(1, 1) - 1) * (window.get(5, 1) or 1) + 1
    return max(0, (spread - reach) // (window.get(2, 1) or 1) + 1)


def _select_and_scatter(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    window = math.prod(dimension.get(1, 1) for dimension in _window(ops, row))
    source, (select, scatter) = _operand_elements(ops, row, 1), ops.called[row][:2]
    chosen, added = applied.times(select, source * (window - 1)), applied.times(scatter, source)
    return chosen[0] + added[0], chosen[1] + added[1]


def _dot(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    numbers = _numbers(ops, row, _DOT, (1,))
    return _contracted(ops, row, numbers[1]), 0.0


def _contracted(ops: Operations, row: int, contracting: list[int]) -> float:
    sizes = ops.shapes.sizes(ops.operands[row][0])
    return 2.0 * float(ops.shapes.elements[row]) * math.prod(sizes[axis] for axis in contracting)


def _convolution(ops: Operations, row: int, applied: _Applied) -> tuple[float, float]:
    lhs, rhs = (ops.shapes.sizes(operand) for operand in ops.operands[row][:2])
    return _multiply_adds(ops, row, lhs, rhs, ops.shapes.sizes(row)), 0.0


def _multiply_adds(ops: Operations, row: int, lhs: list[int], rhs: list[int], out: list[int]) -> float:
    """Two for each multiply-add of a kernel element with an element of the input, padding left out."""
    numbers = _numbers(ops, row, _CONVOLUTION, (7, 8, 11, 3, 4, 6, 9, 10, 12))
    fields = ops.fields(np.array([row]), _GROUPS, _BATCH_GROUPS)
    groups, batch_groups = (int(fields[n].value[0]) if len(fields[n].row) else 1 for n in (_GROUPS, _BATCH_GROUPS))
    positions = 1
    for i, dimension in enumerate(_window(ops, row)):
        positions *= _valid(lhs[numbers[11][i]], rhs[numbers[6][i]], out[numbers[12][i]], dimension)
    features = lhs[numbers[8][0] if numbers[8] else 0] // max(groups, 1)
    batch = lhs[numbers[7][0] if numbers[7] else 0] // max(batch_groups, 1)
    return 2.0 * features * out[numbers[10][0] if numbers[10] else 0] * batch * positions


def _valid(size: int, kernel: int, out: int, window: dict[int, int]) -> int:
    """Pairs of (kernel element, output element) that meet an element of the input and no padding or hole."""
    stride, low = window.get(2, 1) or 1, window.get(3, 0)
    dilation, base = window.get(5, 1) or 1, window.get(6, 1) or 1
    at = np.arange(out)[:, None] * stride - low + np.arange(kernel)[None] * dilation
    inside = (at >= 0) & (at < (size - 1) * base + 1) & (at % base == 0)
    return int(inside.sum())


def _window(ops: Operations, row: int) -> list[dict[int, int]]:
    """The window's dimensions, each {field number: value}; numbers of WindowDimension in xla_data.proto."""
    window = ops.fields(np.array([row]), _WINDOW)[_WINDOW]
    dimensions = ops.inside(window, 1)[1]
    fields = ops.inside(dimensions, 1, 2, 3, 4, 5, 6, 7)
    result: list[dict[int, int]] = [{} for _ in range(len(dimensions.row))]
    for number, found in fields.items():
        for of, value in zip(found.row.tolist(), found.value.tolist(), strict=True):
            result[of][number] = value
    return result


def _numbers(ops: Operations, row: int, field: int, wanted: tuple[int, ...]) -> dict[int, list[int]]:
    """Lists of numbers in a message that an instruction holds; a number that is 0 is left out of the proto."""
    known = _messages.setdefault(ops, {})
    if (field, wanted) not in known:
        known[field, wanted] = _read_numbers(ops, field, wanted)
    place, listed = known[field, wanted]
    at = place.get(row)
    return {number: [] if at is None else listed[number][at] for number in wanted}


def _read_numbers(ops: Operations, field: int, wanted: tuple[int, ...]) -> tuple[dict[int, int], dict[int, Lists]]:
    """Of all instructions that may hold the message: the place of each, and the lists in their order."""
    rows = ops.rows(*_COUNTERS, b"custom-call")
    message = ops.fields(rows, field)[field]
    found = ops.inside(message, *wanted)
    place = {int(row): i for i, row in enumerate(rows[message.row])}
    return place, {number: ops.lists(found[number], len(message.row)) for number in wanted}


_messages: WeakKeyDictionary[Operations, dict[tuple[int, tuple[int, ...]], Any]] = WeakKeyDictionary()


def _list(ops: Operations, field: Any) -> list[int]:
    listed: Lists = ops.lists(field, 1)
    return listed[0]


_COUNTERS: dict[bytes, Callable[[Operations, int, _Applied], tuple[float, float]]] = {
    b"reduce": _reduce,
    b"map": _map,
    b"scatter": _scatter,
    b"sort": _sort,
    b"fft": _fft,
    b"reduce-window": _reduce_window,
    b"select-and-scatter": _select_and_scatter,
    b"dot": _dot,
    b"convolution": _convolution,
}

_FREE = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "AllocateBuffer",
    "LayoutConstraint",
    "annotate_device_placement",
)
_GEMMS = ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8", "__triton_gemm")


def _custom_call(ops: Operations, row: int) -> tuple[float, str | None]:
    """(FLOPs, None), or (NaN, why they are not known)."""
    fields = ops.fields(np.array([row]), _CALL_TARGET, _BACKEND)
    target = ops.strings(fields[_CALL_TARGET], 1)[0].decode("utf-8", "replace")
    if target in _FREE:
        return 0.0, None
    config = _json(ops.strings(fields[_BACKEND], 1)[0])
    if target in _GEMMS:
        numbers = config.get("gemm_backend_config", config).get("dot_dimension_numbers", {})
        contracting = [int(axis) for axis in numbers.get("lhs_contracting_dimensions", [])]
        sizes = ops.shapes.sizes(ops.operands[row][0])
        return 2.0 * _gemm_result(ops, row) * math.prod(sizes[axis] for axis in contracting), None
    if target.startswith("__cudnn$conv"):
        return _cudnn(ops, row, target), None
    estimate = config.get("custom_call_config", {}).get("cost_estimate", {})
    if "flops" in estimate:
        return float(estimate["flops"]), None
    return math.nan, f"{target} is a custom call without a cost estimate"


def _gemm_result(ops: Operations, row: int) -> float:
    """Elements of the product: the rows and columns that the operands bring."""
    return float(math.prod(ops.shapes.sizes(row) if ops.shapes.rank[row] else _first_array(ops, row)))


def _first_array(ops: Operations, row: int) -> list[int]:
    """The dimensions of the first array of a tuple."""
    shape = ops.fields(np.array([row]), SHAPE)[SHAPE]
    inner = ops.inside(shape, _TUPLE_SHAPES)[_TUPLE_SHAPES]
    if not len(inner.row):
        return []
    return ops.lists(ops.inside(inner, _DIMENSIONS)[_DIMENSIONS], len(inner.row))[0]


def _cudnn(ops: Operations, row: int, target: str) -> float:
    """A convolution of the library: the same sizes as HLO's own, with its gradients' operands in their places."""
    operands = [ops.shapes.sizes(operand) for operand in ops.operands[row][:2]]
    result = _first_array(ops, row)
    if target.endswith("BackwardInput"):
        lhs, rhs, out = result, operands[1], operands[0]
    elif target.endswith("BackwardFilter"):
        lhs, rhs, out = operands[0], result, operands[1]
    else:
        lhs, rhs, out = *operands, result
    return _multiply_adds(ops, row, lhs, rhs, out)


def _json(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
