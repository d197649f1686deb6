"""Instructions in the bodies of loops that compute the same in every iteration: what they read does not change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.cost.loops.serial_operations import instructions_inside
from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo.module import COLLECTIVES, Module
from jaxstage_ext.ir.wire.protowire import Longs

_TUPLE_INDEX = 13
_MOVES = (b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast", b"copy", b"copy-start", b"copy-done")
_FILLS = (*_MOVES, b"iota", b"broadcast", b"reshape")
_IMPURE = (b"rng", b"rng-bit-generator", b"rng-get-and-update-state", b"infeed", b"outfeed", b"send", b"recv")
_CHANGES = (b"parameter", *_IMPURE, *COLLECTIVES)
_VIEWS = (b"bitcast", b"copy", b"copy-start", b"copy-done", b"optimization-barrier")
_FARTHEST = 8


class InvariantWork(NamedTuple):
    """What one loop repeats."""

    loop: int
    """The row of the loop."""
    trips: int | None
    """None unknown."""
    rows: Longs
    """The instructions of its body that compute the same each time, in order."""
    body: Longs
    """All that run in an iteration, those of loops and calls inside too."""


def read(module: Module) -> list[InvariantWork]:
    """The loops that repeat work."""
    trips = executions.trip_counts(module)
    found = []
    for loop in module.rows(b"while").tolist():
        count = trips[loop].trips
        if count is not None and count < 2:
            continue
        rows = _invariant(module, int(module.called[loop][0]))
        if len(rows):
            found.append(InvariantWork(loop, count, rows, instructions_inside(module, loop)))
    return found


def _invariant(module: Module, body: int) -> Longs:
    rows = np.flatnonzero(module.computation == body)
    known = _unchanged(module, body, rows)
    for row in rows.tolist():
        opcode = module.opcode[row]
        if opcode in (b"constant", b"iota") or (opcode not in _CHANGES and _reads(module, row, known)):
            known.add(row)
    calls = np.array([row for row in known if module.opcode[row] == b"custom-call"], np.int64)
    targets = module.strings(module.fields(calls, schema.INSTRUCTION_TARGET)[schema.INSTRUCTION_TARGET], len(calls))
    known -= {row for row, target in zip(calls.tolist(), targets, strict=True) if b"callback" in target}
    made = [row for row in sorted(known) if module.opcode[row] not in _FILLS and not _only_fills(module, row)]
    return np.array(made, np.int64)


def _only_fills(module: Module, row: int) -> bool:
    """Whether a fusion writes what is cheaper made anew than kept, such as the zeros of an inner loop's results."""
    if module.opcode[row] != b"fusion":
        return False
    inside = module.opcode[module.computation == int(module.called[row][0])]
    return bool(np.isin(inside, _FILLS).all())


def _reads(module: Module, row: int, known: set[int]) -> bool:
    operands = module.operands[row]
    return bool(operands) and all(operand in known for operand in operands)


def _unchanged(module: Module, body: int, rows: Longs) -> set[int]:
    """The elements of the loop's state that each iteration hands on as they are, where the body reads them."""
    parameter, root = rows[module.opcode[rows] == b"parameter"], int(module.roots[body])
    elements = rows[module.opcode[rows] == b"get-tuple-element"]
    if len(parameter) != 1 or module.opcode[root] != b"tuple":
        return set()
    field = module.fields(elements, _TUPLE_INDEX)[_TUPLE_INDEX]
    index = np.zeros(len(elements), np.int64)
    index[field.row] = field.value
    number = {
        row: at
        for row, at in zip(elements.tolist(), index.tolist(), strict=True)
        if module.operands[row][0] == int(parameter[0])
    }
    handed_on = [_behind(module, operand) for operand in module.operands[root]]
    return {row for row, at in number.items() if at < len(handed_on) and number.get(handed_on[at]) == at}


def _behind(module: Module, row: int) -> int:
    for _ in range(_FARTHEST):
        if row < 0 or module.opcode[row] not in _VIEWS or not module.operands[row]:
            break
        row = module.operands[row][0]
    return row
