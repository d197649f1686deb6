"""Along which mesh axes the parts of an operation need each other's data.

Each dimension of an operand flows into one of the result, or the operation mixes the positions along it, as a
reduction, a sort or a product does. Devices exchange data along the axes of a dimension that is mixed, or that flows
into one that is sharded otherwise. Semantics of the operations: openxla.org/xla/operation_semantics.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from jaxstage_ext.analysis.sharding.propagation import Propagated
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.sharding_field import Dimensions

MIXED = -1
Flow = list[int]
"""Per dimension of an operand, that of the result into which it flows, or MIXED."""


def crossed(before: Propagated, row: int) -> dict[int, frozenset[str]]:
    """Per operand of an operation, the mesh axes along which its parts have to be exchanged; without those of none."""
    axes = {operand: _crossed(before, row, place) for place, operand in enumerate(before.ops.operands[row])}
    return {operand: names for operand, names in axes.items() if names}


def _crossed(before: Propagated, row: int, place: int) -> frozenset[str]:
    operand = before.ops.operands[row][place]
    if operand < 0 or not before.ops.shapes.rank[operand]:
        return frozenset()
    given, made = before.sharding(operand).axes or (), before.sharding(row).axes or ()
    names = set[str]()
    for dim, into in enumerate(flow(before.ops, row, place)[: len(given)]):
        kept = made[into] if MIXED != into < len(made) else ()
        same_order = set(given[dim]) == set(kept) and given[dim] != kept
        names |= {axis.name for axis in given[dim] if axis not in kept or same_order}
    return frozenset(names)


def mixed(before: Propagated, row: int) -> frozenset[str]:
    """The mesh axes of the operands' dimensions that an operation mixes, as it sums over them."""
    names = set[str]()
    for place, operand in enumerate(before.ops.operands[row]):
        if operand >= 0 and before.ops.shapes.rank[operand]:
            dims = zip(before.sharding(operand).axes or (), flow(before.ops, row, place), strict=False)
            names |= {axis.name for axes, into in dims if into == MIXED for axis in axes}
    return frozenset(names)


def flow(ops: Module, row: int, place: int) -> Flow:
    """How the dimensions of an operand flow into those of the result."""
    opcode = bytes(ops.opcode[row])
    given, made = ops.shapes.sizes(ops.operands[row][place]), ops.shapes.sizes(row)
    if opcode in _FLOWS:
        return _FLOWS[opcode](Dimensions.FromString(ops.message(row)), given, made, place)
    if opcode in _OPAQUE or len(given) != len(made):
        return [MIXED] * len(given)
    return [dim if size == made[dim] else MIXED for dim, size in enumerate(given)]


def _transposed(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    return [list(message.dimensions).index(dim) for dim in range(len(given))]


def _broadcast(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    return list(message.dimensions)


def _reduced(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    left = itertools.count()
    return [MIXED if dim in message.dimensions else next(left) for dim in range(len(given))]


def _along(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    return [MIXED if dim in message.dimensions else dim for dim in range(len(given))]


def _transformed(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    first = len(given) - len(message.fft_length)
    return [dim if dim < first else MIXED for dim in range(len(given))]


def _windowed(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    windows = [dimension.size for dimension in message.window.dimensions]
    return [dim if size == 1 else MIXED for dim, size in enumerate(windows)] if place == 0 else [MIXED] * len(given)


def _updated(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    """The update reaches into every dimension that it does not fill; the operand stays where it is otherwise."""
    return [dim if size == made[dim] and place == 1 else MIXED for dim, size in enumerate(given)]


def _product(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    numbers = message.dot
    sides = (
        (list(numbers.lhs_contracting), list(numbers.lhs_batch)),
        (list(numbers.rhs_contracting), list(numbers.rhs_batch)),
    )
    contracted, batch = sides[min(place, 1)]
    free = [dim for dim in range(len(given)) if dim not in contracted and dim not in batch]
    first = len(batch) if place == 0 else len(made) - len(free)
    into = dict(zip(batch, itertools.count())) | dict(zip(free, itertools.count(first)))
    return [into.get(dim, MIXED) for dim in range(len(given))]


def _reshaped(message: Any, given: Sequence[int], made: Sequence[int], place: int) -> Flow:
    """A dimension stays one, or is the slowest of those that are merged or split; the others are mixed."""
    ends = {math.prod(made[:dim]): dim for dim in reversed(range(len(made))) if made[dim] != 1}
    return [ends.get(math.prod(given[:dim]), MIXED) if size != 1 else MIXED for dim, size in enumerate(given)]


_FLOWS: dict[bytes, Callable[[Any, Sequence[int], Sequence[int], int], Flow]] = {
    b"transpose": _transposed,
    b"broadcast": _broadcast,
    b"reduce": _reduced,
    b"reverse": _along,
    b"sort": _along,
    b"concatenate": _along,
    b"fft": _transformed,
    b"reduce-window": _windowed,
    b"dynamic-update-slice": _updated,
    b"dot": _product,
    b"reshape": _reshaped,
}
_OPAQUE = (
    b"custom-call", b"convolution", b"gather", b"scatter", b"select-and-scatter", b"cholesky", b"triangular-solve",
    b"topk",
)  # fmt: skip
"""Operations of which any dimension may be mixed."""
EXCHANGING = frozenset({*_FLOWS, *_OPAQUE, b"slice", b"dynamic-slice", b"pad"} - {b"broadcast", b"reshape"})
