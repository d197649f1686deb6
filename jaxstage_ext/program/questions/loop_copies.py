"""Copies of a loop's carry that XLA makes in every iteration, which change no layout: of what, for which lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.report.text.units import plural, scaled

LEAST = 1024
"""Bytes of a copy below which it is a loop's own bookkeeping."""
_VIEWS = (b"copy", b"bitcast", b"copy-done", b"copy-start")
_FARTHEST = 8
_TUPLE_INDEX, _PARAMETER_NUMBER = 13, 9


class LoopCopy(NamedTuple):
    """One copy in the body of a loop."""

    row: int
    """Of the module."""
    runs: float | None
    """Times in one run; None unknown."""
    of: str
    """The argument that is carried, "" unknown."""
    lines: tuple[str, ...]
    """Of what uses the copy, other than the loop's own line."""
    loop: int
    """The row of the loop."""


def read(module: Module, places: Places, arguments: Mapping[int, str]) -> list[LoopCopy]:
    """The copies in bodies of loops; `arguments` are the names of the entry's parameters by number."""
    runs = executions.count(module)
    bodies = {module.called[row][0]: row for row in module.rows(b"while").tolist() if module.called[row]}
    copies = [
        row
        for row in module.rows(b"copy").tolist()
        if int(module.computation[row]) in bodies and module.shapes.bytes[row] >= LEAST
    ]
    found = []
    for row in copies:
        loop, computation = bodies[int(module.computation[row])], int(module.computation[row])
        times = None if runs.unknown[computation] else float(runs.times[computation])
        lines = dict.fromkeys(line for line in _users(module, places, row) if line and line != places.line[loop])
        found.append(LoopCopy(row, times, arguments.get(_carried(module, row, loop), ""), tuple(lines), loop))
    return found


def note(module: Module, copies: list[LoopCopy]) -> str:
    """What a loop copies in each iteration, in a sentence."""
    total = [float(module.shapes.bytes[copy.row]) * copy.runs for copy in copies if copy.runs is not None]
    what = ", ".join(dict.fromkeys(copy.of for copy in copies if copy.of))
    lines = ", ".join(dict.fromkeys(line for copy in copies for line in copy.lines))
    names = ", ".join(module.names[copy.row].decode() for copy in copies[:3])
    size = f", {scaled(sum(total), 'B')} in one run" if total else ""
    at = f", for {lines}" if lines else ""
    return (
        f"Each iteration of a loop copies {what or 'what it carries'} ({plural(len(copies), 'copy', 'copies')}: "
        f"{names}{', …' if len(copies) > 3 else ''}){size}{at}. They change no layout."
    )


def _number(module: Module, row: int, number: int) -> int:
    field = module.fields(np.array([row], np.int64), number)[number]
    return int(field.value[0]) if len(field.row) else 0


def _behind(module: Module, row: int) -> int:
    for _ in range(_FARTHEST):
        if module.opcode[row] not in _VIEWS or module.operands[row][0] < 0:
            break
        row = module.operands[row][0]
    return row


def _carried(module: Module, row: int, loop: int) -> int:
    """The number of the entry's parameter that a loop carries where a copy takes it; -1 unknown."""
    row = _behind(module, row)
    for _ in range(_FARTHEST):
        if module.opcode[row] != b"get-tuple-element":
            break
        index, whole = _number(module, row, _TUPLE_INDEX), _given(module, module.operands[loop][0])
        parts = module.operands[whole] if module.opcode[whole] == b"tuple" else []
        if index >= len(parts):
            return -1
        row = _given(module, _behind(module, parts[index]))
    is_argument = module.opcode[row] == b"parameter" and int(module.computation[row]) == module.entry
    return _number(module, row, _PARAMETER_NUMBER) if is_argument else -1


def _given(module: Module, row: int) -> int:
    """What a call passes for a parameter, through several calls; any other instruction itself."""
    for _ in range(_FARTHEST):
        if module.opcode[row] != b"parameter" or int(module.computation[row]) == module.entry:
            break
        calls = [at for at in module.rows(b"call").tolist() if module.called[at][:1] == [int(module.computation[row])]]
        if len(calls) != 1:
            break
        row = _behind(module, module.operands[calls[0]][_number(module, row, _PARAMETER_NUMBER)])
    return row


def _users(module: Module, places: Places, row: int) -> list[str]:
    users = module.operands.owner[module.operands.values == row].tolist()
    return [line for user in users for line in ([places.line[user]] if module.opcode[user] != b"copy" else [])]
