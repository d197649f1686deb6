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
    """The instructions of its body, and of branches in it, that compute the same each time, in order."""
    body: Longs
    """All that run in an iteration, those of loops and calls inside too."""
    is_in_branch: bool
    """Whether some of the instructions run only where a conditional takes their branch."""


def read(module: Module) -> list[InvariantWork]:
    """The loops that repeat work."""
    trips = executions.trip_counts(module)
    found = []
    for loop in module.rows(b"while").tolist():
        count = trips[loop].trips
        if count is not None and count < 2:
            continue
        body = int(module.called[loop][0])
        rows = _invariant(module, body)
        if len(rows):
            is_in_branch = bool((module.computation[rows] != body).any())
            found.append(InvariantWork(loop, count, rows, instructions_inside(module, loop), is_in_branch))
    return found


def _invariant(module: Module, body: int) -> Longs:
    rows = np.flatnonzero(module.computation == body)
    known = _computed_of(module, rows, _unchanged(module, body, rows))
    known |= _in_branches(module, rows, known)
    calls = np.array([row for row in known if module.opcode[row] == b"custom-call"], np.int64)
    targets = module.strings(module.fields(calls, schema.INSTRUCTION_TARGET)[schema.INSTRUCTION_TARGET], len(calls))
    known -= {row for row, target in zip(calls.tolist(), targets, strict=True) if b"callback" in target}
    made = [row for row in sorted(known) if module.opcode[row] not in _FILLS and not _only_fills(module, row)]
    return np.array(made, np.int64)


def _computed_of(module: Module, rows: Longs, known: set[int]) -> set[int]:
    """Those of a computation, in order, that are computed of what is known alone, and that itself."""
    for row in rows.tolist():
        opcode = module.opcode[row]
        if opcode in (b"constant", b"iota") or (opcode not in _CHANGES and _reads(module, row, known)):
            known.add(row)
    return known


def _in_branches(module: Module, rows: Longs, known: set[int]) -> set[int]:
    """Those in the branches of a computation's conditionals, which are given what never changes."""
    found: set[int] = set()
    for row in rows[module.opcode[rows] == b"conditional"].tolist():
        if row in known:
            continue
        for branch, operand in zip(module.called[row], module.operands[row][1:], strict=False):
            inside = np.flatnonzero(module.computation == int(branch))
            given = _given(module, inside, operand, known)
            own = _computed_of(module, inside, given) if given else set()
            found |= own | _in_branches(module, inside, own)
    return found


def _given(module: Module, rows: Longs, operand: int, known: set[int]) -> set[int]:
    """Of a branch, its argument or the elements of it that are known where it is called."""
    [parameter] = rows[module.opcode[rows] == b"parameter"].tolist() or [-1]
    operand = _behind(module, operand)
    if parameter < 0 or operand < 0:
        return set()
    if operand in known:
        return {parameter}
    if module.opcode[operand] != b"tuple":
        return set()
    parts = module.operands[operand]
    numbers = _elements(module, rows, parameter)
    return {row for row, at in numbers.items() if at < len(parts) and _behind(module, parts[at]) in known}


def _reads(module: Module, row: int, known: set[int]) -> bool:
    operands = module.operands[row]
    return bool(operands) and all(operand in known for operand in operands)


def _only_fills(module: Module, row: int) -> bool:
    """Whether a fusion writes what is cheaper made anew than kept, such as the zeros of an inner loop's results."""
    if module.opcode[row] != b"fusion":
        return False
    inside = module.opcode[module.computation == int(module.called[row][0])]
    return bool(np.isin(inside, _FILLS).all())


def _unchanged(module: Module, body: int, rows: Longs) -> set[int]:
    """The elements of the loop's state that each iteration hands on as they are, where the body reads them."""
    parameter, root = rows[module.opcode[rows] == b"parameter"], int(module.roots[body])
    number = _elements(module, rows, int(parameter[0]))
    handed_on = [_behind(module, operand) for operand in module.operands[root]]
    return {row for row, at in number.items() if at < len(handed_on) and number.get(handed_on[at]) == at}


def _elements(module: Module, rows: Longs, parameter: int) -> dict[int, int]:
    """Which element of a parameter those of a computation's instructions are that take one."""
    elements = rows[module.opcode[rows] == b"get-tuple-element"]
    field = module.fields(elements, _TUPLE_INDEX)[_TUPLE_INDEX]
    index = np.zeros(len(elements), np.int64)
    index[field.row] = field.value
    pairs = zip(elements.tolist(), index.tolist(), strict=True)
    return {row: at for row, at in pairs if module.operands[row][0] == parameter}


def _behind(module: Module, row: int) -> int:
    for _ in range(_FARTHEST):
        if row < 0 or module.opcode[row] not in _VIEWS or not module.operands[row]:
            break
        row = module.operands[row][0]
    return row
