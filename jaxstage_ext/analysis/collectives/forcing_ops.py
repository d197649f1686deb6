"""The operation whose partitioning forces an exchange, where XLA names the collective after a neighbour of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from jaxstage_ext.analysis.collectives import dimension_flow
from jaxstage_ext.analysis.sharding.propagation import Propagated
from jaxstage_ext.ir.hlo import shapes

_FARTHEST = 8
"""Most operations between a collective's name and its cause: XLA moves a collective past elementwise operations."""
_LOOPING = (b"tuple", b"while", b"conditional", b"call")


class ForcingOps:
    """Finds operations that need an exchange, by the shardings of their operands and result."""

    def __init__(self, before: Propagated) -> None:
        self._before = before
        self._crossed: dict[int, dict[int, frozenset[str]]] = {}

    def crossed(self, row: int) -> dict[int, frozenset[str]]:
        """Per operand of an operation, the mesh axes along which it has to be exchanged."""
        if row not in self._crossed:
            self._crossed[row] = dimension_flow.crossed(self._before, row)
        return self._crossed[row]

    def needs(self, row: int, axes: frozenset[str]) -> list[int]:
        """The operands of an operation to be exchanged along some mesh axes; along any where none is given."""
        return [operand for operand, names in self.crossed(row).items() if names and axes <= names]

    def nearest(self, rows: Iterable[int], axes: frozenset[str]) -> list[int]:
        """The operations nearest to some others that need an exchange along some mesh axes; empty where none does."""
        level, seen = list(dict.fromkeys(rows)), set[int]()
        for _ in range(_FARTHEST):
            if needing := [row for row in level if self.needs(row, axes)]:
                return needing
            seen |= set(level)
            level = [row for row in dict.fromkeys(near for row in level for near in self._near(row)) if row not in seen]
        return []

    def _near(self, row: int) -> list[int]:
        before = self._before
        operands = [operand for operand in before.ops.operands[row] if operand >= 0]
        return [*before.users.get(row, []), *self._of_several.get(row, []), *operands, *self.through.get(row, [])]

    @cached_property
    def _of_several(self) -> dict[int, list[int]]:
        """Per value, the operations with several results that use it."""
        ops = self._before.ops
        several = (ops.shapes.element_type == shapes.TUPLE) & ~np.isin(ops.opcode, _LOOPING)
        users: dict[int, list[int]] = {}
        for row in np.flatnonzero(several).tolist():
            for operand in ops.operands[row]:
                users.setdefault(operand, []).append(row)
        return users

    @cached_property
    def through(self) -> dict[int, list[int]]:
        """A loop's operands and what its body takes for them, each with the other."""
        ops, index = self._before.ops, self._before.element
        loops = {body: loop for loop in ops.rows(b"while").tolist() for body in ops.called[loop] if body >= 0}
        into: dict[int, list[int]] = {}
        for element in ops.rows(b"get-tuple-element").tolist():
            of, loop = ops.operands[element][0], loops.get(int(ops.computation[element]), -1)
            bundle = ops.operands[loop][0] if loop >= 0 and of >= 0 and ops.opcode[of] == b"parameter" else -1
            if bundle >= 0 and ops.opcode[bundle] == b"tuple":
                value = ops.operands[bundle][index[element]]
                into.setdefault(value, []).append(element)
                into.setdefault(element, []).append(value)
        return into
