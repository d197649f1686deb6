"""The instruction that computes what a buffer holds.

A loop stacks what its body computes: the buffer is written by dynamic-update-slice at the line of the loop, and belongs
to the line in the body that computes the slice. A part of a fusion's result belongs to the fused instruction that
computes that part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.ir.hlo.module import Module

_STACKS, _UNSTACKS = b"dynamic-update-slice", b"dynamic-slice"
_SAME = (b"bitcast", b"copy", b"copy-done", b"opt-barrier")
_PASSES_ON = (*_SAME, b"reshape", b"transpose", b"convert", b"broadcast", _UNSTACKS)
"""Opcodes whose result holds what their first operand holds, or a part of it."""
_RUNS = (b"fusion", b"call")
_STRUCTURE = (b"tuple", b"get-tuple-element", b"parameter", b"while", b"async-start", b"async-done", *_RUNS)
_LEADS_ON = (_STACKS, *_PASSES_ON, *_STRUCTURE)
_TUPLE_INDEX, _PARAMETER_NUMBER = 13, 9
_MOST_STEPS = 200


class ResultPart(NamedTuple):
    """One array of an instruction's result: the instruction's row, and the place in its tuple, () for the whole."""

    row: int
    at: tuple[int, ...]


class Origins:
    """Finds, from any array of a module, the instruction that computes what is in it."""

    def __init__(self, ops: Module, places: Places) -> None:
        self._ops, self._lines = ops, places.line
        self._known: dict[ResultPart, int] = {}

    def of(self, row: int, index: Sequence[int] = ()) -> int:
        """The instruction whose line the array belongs to; `row` itself where the module does not show another."""
        if row < 0 or not (len(index) or self._ops.opcode[row] in _LEADS_ON):
            return row
        part = ResultPart(row, tuple(index))
        if part not in self._known:
            self._known[part] = self._computed(part)
        return self._known[part]

    def _computed(self, part: ResultPart) -> int:
        loop, is_stacked, home, carried = "", False, self._ops.computation[part.row], part.row
        for row, _ in self._through(part):
            opcode, line = self._ops.opcode[row], self._lines[row]
            if is_stacked and line not in ("", loop):
                if opcode not in _SAME:
                    return row
                carried = row if carried == part.row else carried
            elif is_stacked:
                continue
            elif opcode in (_STACKS, _UNSTACKS):
                loop, is_stacked = self._loop_line(row), opcode == _STACKS
                if line not in ("", loop):
                    return row if part.at else part.row
            elif part.at and line and self._ops.computation[row] != home and opcode not in _SAME:
                return row
        return carried

    def _through(self, part: ResultPart) -> Iterator[ResultPart]:
        """The instructions that the array passes through, from the one that gives it to the one that computes it."""
        seen: set[ResultPart] = set()
        at: ResultPart | None = part
        while at is not None and at not in seen and len(seen) < _MOST_STEPS:
            seen.add(at)
            if self._ops.opcode[at.row] not in _STRUCTURE:
                yield at
            at = self._before(at, seen)

    def _before(self, part: ResultPart, seen: set[ResultPart]) -> ResultPart | None:
        """Where the array comes from; None where it is computed here, or its origin is not known."""
        row, index = part
        opcode, operands = self._ops.opcode[row], self._ops.operands[row]
        if opcode == b"parameter":
            return self._argument(part, seen)
        if opcode == b"while" or opcode in _RUNS:
            return self._inside(row, index)
        if opcode == b"get-tuple-element":
            return _part(operands[0], (self._tuple_index(row), *index))
        if opcode == b"tuple":
            return _part(operands[index[0]], index[1:]) if index and index[0] < len(operands) else None
        if opcode == _STACKS:
            return _part(operands[1], ())
        if opcode in (b"copy-start", b"async-start"):
            return self._started(row, index)
        if opcode == b"async-done":
            return self._inside(operands[0], index)
        return _part(operands[0], index) if opcode in _PASSES_ON and operands else None

    def _started(self, row: int, index: tuple[int, ...]) -> ResultPart | None:
        """Of a copy the result or its source, and of another asynchronous instruction the result."""
        if self._ops.opcode[row] == b"copy-start":
            return _part(self._ops.operands[row][0], index[1:]) if not index or index[0] < 2 else None
        return self._inside(row, index[1:]) if index and index[0] == 1 else None

    def _inside(self, row: int, index: tuple[int, ...]) -> ResultPart | None:
        called = self._ops.called[row]
        root = int(self._ops.roots[called[0]]) if called and called[0] >= 0 else -1
        return _part(root, index)

    def _argument(self, part: ResultPart, seen: set[ResultPart]) -> ResultPart | None:
        """What a computation is called with; of a loop's body, what the last iteration carries over."""
        caller = self._callers.get(int(self._ops.computation[part.row]), -1)
        if caller < 0:
            return None
        if self._ops.opcode[caller] != b"while":
            operands, number = self._ops.operands[caller], self._number(part.row)
            return _part(operands[number], part.at) if number < len(operands) else None
        carried = self._inside(caller, part.at)
        is_new = carried not in seen and not self._is_invariant(caller, part.at)
        return carried if is_new else _part(self._ops.operands[caller][0], part.at)

    @cached_property
    def _callers(self) -> dict[int, int]:
        """The instruction that calls each computation, where there is only one."""
        owner, called = self._ops.called.owner.tolist(), self._ops.called.values.tolist()
        times = Counter(called)
        return {computation: row for computation, row in zip(called, owner, strict=True) if times[computation] == 1}

    def _loop_line(self, row: int) -> str:
        """The line of the innermost loop around an instruction, "" where there is none."""
        for _ in range(_MOST_STEPS):
            row = self._callers.get(int(self._ops.computation[row]), -1)
            if row < 0 or self._ops.opcode[row] == b"while":
                break
        return self._lines[row] if row >= 0 else ""

    def _is_invariant(self, loop: int, index: tuple[int, ...]) -> bool:
        """Whether each iteration of a loop carries over an element of its tuple as it is."""
        at = self._inside(loop, index)
        while at is not None and self._ops.opcode[at.row] in (b"tuple", *_SAME):
            at = self._before(at, set())
        if at is None or self._ops.opcode[at.row] != b"get-tuple-element":
            return False
        source = self._ops.operands[at.row][0]
        return bool(self._ops.opcode[source] == b"parameter") and (self._tuple_index(at.row), *at.at) == index

    def _tuple_index(self, row: int) -> int:
        return self._field(row, _TUPLE_INDEX)

    def _number(self, row: int) -> int:
        return self._field(row, _PARAMETER_NUMBER)

    def _field(self, row: int, field: int) -> int:
        """A number of an instruction; 0 is left out of the proto."""
        values = self._ops.fields(np.array([row]), field)[field].value
        return int(values[0]) if len(values) else 0


def _part(row: int, index: tuple[int, ...]) -> ResultPart | None:
    return ResultPart(row, index) if row >= 0 else None
