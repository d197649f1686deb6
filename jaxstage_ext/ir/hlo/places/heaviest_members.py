"""Which instruction inside a fusion or a call does most of its work, by a rough count of arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

_PRODUCTS = (b"dot", b"convolution")
_ACCUMULATING = (b"reduce", b"reduce-window", b"scatter", b"sort", b"select-and-scatter")
"""They work on each element that they read."""
_SEARCHED = (b"fusion", b"call")
_DEEPEST = 8
"""Of fusions and calls inside each other."""
Work = npt.NDArray[np.float64]


def heaviest_members(module: Module, rows: Longs) -> Longs:
    """For each of these rows the instruction that does most of the work inside it; the row itself for others.

    The work is a rough count: for an elementwise instruction the elements of its result, for a reduction those of its
    operand, for a matrix product twice the number of products that are added. Of equals, the first counts. XLA:CPU
    runs a small loop as one call, whose instructions leave no trace of their own: its loops are searched too.
    """
    if not np.isin(module.opcode[rows], _SEARCHED).any():
        return rows
    try:
        inside = _Inside(module, _work(module), _members(module))
    except ValueError:  # shapes of a damaged module
        return rows
    return np.array([inside.heaviest(row, _DEEPEST) for row in rows.tolist()], np.int64)


@dataclass
class _Inside:
    """The heaviest instruction inside fusions and calls, each searched once: a damaged module may call in circles."""

    module: Module
    work: Work
    members: list[Longs]
    known: dict[int, int] = field(default_factory=dict)

    def heaviest(self, row: int, depth: int) -> int:
        searched = _SEARCHED if depth == _DEEPEST else (*_SEARCHED, b"while", b"conditional")
        if self.module.opcode[row] not in searched or not depth:
            return row
        if row not in self.known:
            self.known[row] = row
            called = [number for number in self.module.called[row] if 0 <= number < len(self.members)]
            inside = [member for number in called for member in self.members[number].tolist()]
            nested = [self.heaviest(member, depth - 1) for member in inside]
            best = max(nested, key=self.work.__getitem__, default=row)
            self.known[row] = best if self.work[best] > 0 else row
        return self.known[row]


def _members(module: Module) -> list[Longs]:
    """The rows of each computation."""
    count = len(module.computations)
    order = np.argsort(module.computation, kind="stable")
    return np.split(order, np.searchsorted(module.computation[order], np.arange(1, count))) if count else []


def _work(module: Module) -> Work:
    """Of every instruction."""
    elements = module.shapes.elements.astype(np.float64)
    work = np.where(module.counts, elements, 0.0)
    first, second = module.operands.at(0), module.operands.at(1)
    read = np.where(first >= 0, elements[first], 0.0)
    reduces = np.isin(module.opcode, _ACCUMULATING)
    work[reduces] = np.maximum(read, elements)[reduces]
    product = np.isin(module.opcode, _PRODUCTS) & (first >= 0) & (second >= 0)
    other = np.where(second >= 0, elements[second], 0.0)
    depth = np.sqrt(read * other / np.maximum(elements, 1.0))
    work[product] = (2 * elements * np.maximum(depth, 1.0))[product]
    return work
