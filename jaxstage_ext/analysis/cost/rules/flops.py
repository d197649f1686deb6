"""FLOPs and transcendentals of each HLO instruction by itself, once.

Formulas: HloCostAnalysis of XLA (xla/service/hlo_cost_analysis.cc): an elementwise operation counts its result's
elements, a multiply-add counts two, a reduction (elements in - elements out) times its computation. A sort counts
n log2 n along each row that is sorted, an FFT 5 N log2 N.
Of complex numbers an addition counts two, a multiplication six, a multiply-add eight, which XLA counts as of real ones;
a transcendental function counts once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.rules import library_calls, linear_algebra, linear_algebra_calls, windows
from jaxstage_ext.analysis.cost.rules.library_calls import Counted
from jaxstage_ext.analysis.cost.rules.linear_algebra_calls import Operands
from jaxstage_ext.ir.hlo.module import Module

Floats = npt.NDArray[np.float64]

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
COMPLEX_OPERATIONS = {"add": 2, "subtract": 2, "negate": 2, "multiply": 6, "divide": 11}
"""Real operations of one operation on complex numbers; a division is (ac + bd, bc - ad) / (c² + d²)."""
_DOT, _LHS_CONTRACTING, _FFT_LENGTH, _DIMENSIONS = 30, 1, 32, 14


@dataclass(frozen=True, eq=False)
class Counts:
    """Per instruction; NaN in `flops` where they cannot be known, with the reason by row."""

    flops: Floats
    transcendentals: Floats
    unknown: dict[int, str]


def count(ops: Module, kernels: Mapping[int, Counted] | None = None) -> Counts:
    """Each instruction once, without what it calls, but for the computation that a reduction applies.

    `kernels` has the work of custom calls that is known from elsewhere.
    """
    flops, transcendentals = np.zeros(len(ops)), np.zeros(len(ops))
    elements = ops.shapes.elements.astype(np.float64)
    for column, names in ((flops, ELEMENTWISE), (transcendentals, TRANSCENDENTAL)):
        rows = ops.rows(*names)
        column[rows] = elements[rows]
    is_complex = np.isin(ops.shapes.element_type, library_calls.COMPLEX_TYPES)
    for name, times in COMPLEX_OPERATIONS.items():
        flops[is_complex & (ops.opcode == name.encode())] *= times
    rows = ops.rows(b"rng", b"rng-bit-generator")
    transcendentals[rows] = elements[rows]
    rows = ops.rows(b"all-reduce", b"all-reduce-start", b"reduce-scatter")
    flops[rows] = elements[rows]
    unknown: dict[int, str] = {}
    applied = _Applied(ops, flops, transcendentals)
    for opcode, counter in _COUNTERS.items():
        for row in ops.rows(opcode):
            flops[row], transcendentals[row] = counter(ops, int(row), applied)
    rows = ops.rows(b"dot")
    flops[rows] = _dots(ops, rows)
    for row, call in (dict(library_calls.count(ops)) | dict(kernels or {})).items():
        flops[row], transcendentals[row] = call.flops, call.transcendentals
        if call.why:
            unknown[row] = call.why
    rows = np.flatnonzero(_dynamic(ops) & ((flops > 0) | (transcendentals > 0)))
    flops[rows] = np.nan
    unknown |= dict.fromkeys(rows.tolist(), _DYNAMIC)
    return Counts(flops, transcendentals, unknown)


_DYNAMIC = "its shape is known only when it runs; transcendentals and bytes are at most these"


def _dynamic(ops: Module) -> npt.NDArray[np.bool_]:
    """Which instructions give or take an array of a size that is not known."""
    dynamic, operand = ops.shapes.dynamic.copy(), ops.operands.values
    dynamic[ops.operands.owner[(operand >= 0) & ops.shapes.dynamic[operand]]] = True
    return dynamic


class _Applied:
    """What one application of a computation to scalars costs."""

    def __init__(self, ops: Module, flops: Floats, transcendentals: Floats) -> None:
        n = len(ops.computations)
        self.flops = np.bincount(ops.computation, flops, n)
        self.transcendentals = np.bincount(ops.computation, transcendentals, n)

    def times(self, computation: int, number: float) -> tuple[float, float]:
        return float(self.flops[computation] * number), float(self.transcendentals[computation] * number)


def _operand_elements(ops: Module, row: int, place: int) -> int:
    return int(ops.shapes.elements[ops.operands[row][place]])


def _first_result(ops: Module, row: int) -> int:
    """Elements of the result, or of the first array of a tuple of equal ones."""
    arrays = max(1, len(ops.operands[row]) // 2) if ops.opcode[row] == b"reduce" else 1
    return int(ops.shapes.elements[row]) // arrays


def _reduce(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    return applied.times(ops.called[row][0], _operand_elements(ops, row, 0) - _first_result(ops, row))


def _map(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    return applied.times(ops.called[row][0], int(ops.shapes.elements[row]))


def _scatter(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    return applied.times(ops.called[row][0], _operand_elements(ops, row, -1))


def _sort(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    """Each row along the sorted dimension by itself."""
    field = ops.fields(np.array([row]), _DIMENSIONS)[_DIMENSIONS]
    axes, sizes = ops.lists(field, 1)[0], ops.shapes.sizes(ops.operands[row][0])
    return linear_algebra.sort(math.prod(sizes), sizes[axes[0] if axes else -1] if sizes else 1), 0.0


def _cholesky(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    return _solved(ops, row, "potrf")


def _triangular_solve(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    return _solved(ops, row, "trsm")


def _solved(ops: Module, row: int, routine: str) -> tuple[float, float]:
    shapes = Operands([ops.shapes.sizes(operand) for operand in ops.operands[row]], ops.shapes.sizes(row))
    done = linear_algebra_calls.of(f"lapack_s{routine}", shapes, library_calls.is_complex(ops, row))
    return float(done or 0.0), 0.0


def _fft(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    """Of real numbers half: `linear_algebra.fft`."""
    field = ops.fields(np.array([row]), _FFT_LENGTH)[_FFT_LENGTH]
    places = (row, ops.operands[row][0])
    is_real = any(ops.shapes.element_type[place] not in library_calls.COMPLEX_TYPES for place in places)
    return linear_algebra.fft(max(int(ops.shapes.elements[p]) for p in places), ops.lists(field, 1)[0], is_real), 0.0


def _reduce_window(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    """Padding and holes of the window meet no element and are left out.

    A window that covers a whole dimension wherever it stands gives one value there, which is computed once: TPU
    compilers write a reduction whose result is broadcast in this way.
    """
    sizes, window = ops.shapes.sizes(ops.operands[row][0]), windows.read(ops).of(row)
    out = ops.shapes.sizes(row) or [
        windows.outputs(size, dimension) for size, dimension in zip(sizes, window, strict=True)
    ]
    every = [windows.covers(size, to, dimension) for size, to, dimension in zip(sizes, out, window, strict=True)]
    met = math.prod(
        size if whole else windows.met(size, dimension.size, to, dimension)
        for size, to, dimension, whole in zip(sizes, out, window, every, strict=True)
    )
    results = math.prod(1 if whole else to for to, whole in zip(out, every, strict=True))
    return applied.times(ops.called[row][0], max(0, met - results))


def _select_and_scatter(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    window = math.prod(dimension.size for dimension in windows.read(ops).of(row))
    source, (select, scatter) = _operand_elements(ops, row, 1), ops.called[row][:2]
    chosen, added = applied.times(select, source * (window - 1)), applied.times(scatter, source)
    return chosen[0] + added[0], chosen[1] + added[1]


def _dots(ops: Module, rows: npt.NDArray[np.int64]) -> list[float]:
    """Two for each multiply-add."""
    message = ops.fields(rows, _DOT)[_DOT]
    listed = ops.lists(ops.inside(message, _LHS_CONTRACTING)[_LHS_CONTRACTING], len(message.row))
    place = dict(zip(message.row.tolist(), range(len(message.row)), strict=True))
    contracting = [listed[place[i]] if i in place else [] for i in range(len(rows))]
    return [_contracted(ops, row, axes) for row, axes in zip(rows.tolist(), contracting, strict=True)]


def _contracted(ops: Module, row: int, axes: list[int]) -> float:
    sizes = ops.shapes.sizes(ops.operands[row][0])
    factor = linear_algebra.COMPLEX if library_calls.is_complex(ops, row) else 1.0
    return factor * 2.0 * float(ops.shapes.elements[row]) * math.prod(sizes[axis] for axis in axes)


def _convolution(ops: Module, row: int, applied: _Applied) -> tuple[float, float]:
    lhs, rhs = (ops.shapes.sizes(operand) for operand in ops.operands[row][:2])
    factor = linear_algebra.COMPLEX if library_calls.is_complex(ops, row) else 1.0
    return factor * windows.multiply_adds(ops, row, lhs, rhs, ops.shapes.sizes(row)), 0.0


_COUNTERS: dict[bytes, Callable[[Module, int, _Applied], tuple[float, float]]] = {
    b"reduce": _reduce,
    b"map": _map,
    b"scatter": _scatter,
    b"sort": _sort,
    b"fft": _fft,
    b"reduce-window": _reduce_window,
    b"select-and-scatter": _select_and_scatter,
    b"convolution": _convolution,
    b"cholesky": _cholesky,
    b"triangular-solve": _triangular_solve,
}
