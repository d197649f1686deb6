"""How much of an array a module reads where it reads no more than fixed slices of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

_VIEWS = (b"bitcast", b"copy", b"reshape", b"transpose", b"copy-start", b"copy-done")
_CALLS = (b"fusion", b"call", b"async-start")
_PARAMETER_NUMBER, _SLICE_DIMENSIONS = 9, 17
_DEEPEST = 12


@dataclass
class ReadSlices:
    """What reads an array."""

    elements: int = 0
    """At most so many of its elements are read; two slices that overlap count twice."""
    whole: bool = False
    """Whether something reads all of it, or may."""
    readers: list[int] = field(default_factory=list)
    """The slices, as rows of the module."""
    seen: set[tuple[int, bytes]] = field(default_factory=set, repr=False)


class Readers:
    """The readers of each instruction of a module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._order = np.argsort(module.operands.values, kind="stable")
        self._sorted = module.operands.values[self._order]

    def of(self, row: int) -> ReadSlices:
        """What reads the result of an instruction."""
        found = ReadSlices()
        self._follow(row, found, 0)
        return found

    def users(self, row: int) -> Longs:
        """The instructions that have it as an operand."""
        first, last = np.searchsorted(self._sorted, [row, row + 1])
        return np.unique(self._module.operands.owner[self._order[first:last]])

    def _follow(self, row: int, found: ReadSlices, depth: int) -> None:
        module = self._module
        if depth > _DEEPEST or row in module.roots:
            found.whole = True
        for user in self.users(row).tolist():
            if found.whole:
                return
            opcode = bytes(module.opcode[user])
            if opcode == b"slice":
                self._sliced(user, found)
            elif opcode in _VIEWS and user not in module.roots:
                self._follow(user, found, depth + 1)
            elif opcode in _CALLS and len(module.called[user]) == 1:
                places = [at for at, operand in enumerate(module.operands[user]) if operand == row]
                for at in places:
                    self._inside(module.called[user][0], at, found, depth)
            else:
                found.whole = True

    def _inside(self, computation: int, number: int, found: ReadSlices, depth: int) -> None:
        module = self._module
        rows = np.flatnonzero((module.computation == computation) & (module.opcode == b"parameter"))
        numbers = module.fields(rows, _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
        values = np.zeros(len(rows), np.int64)
        values[numbers.row] = numbers.value
        for row in rows[values == number].tolist():
            self._follow(row, found, depth + 1)

    def _sliced(self, row: int, found: ReadSlices) -> None:
        module = self._module
        part = module.fields(np.array([row]), _SLICE_DIMENSIONS)[_SLICE_DIMENSIONS]
        bounds = b"|".join(
            module.raw[at : at + size] for at, size in zip(part.offset.tolist(), part.size.tolist(), strict=True)
        )
        found.readers.append(row)
        if (key := (int(module.shapes.elements[row]), bounds)) not in found.seen:
            found.seen.add(key)
            found.elements += key[0]
