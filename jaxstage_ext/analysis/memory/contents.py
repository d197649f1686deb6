"""Which value a buffer holds, and what that value is called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxstage_ext.analysis.memory.buffers import ScheduledBuffers
from jaxstage_ext.ir.hlo import parts
from jaxstage_ext.ir.wire.protowire import Longs

_HANDS_ON = (b"parameter", b"tuple", b"get-tuple-element", b"bitcast", b"while", b"conditional", b"call", b"copy-done")
"""Opcodes that pass a value on: a buffer is not named after them."""


def values(scheduled: ScheduledBuffers, rows: Sequence[int] | Longs, position: int | None) -> Longs:
    """Per buffer the value that it is named after: of several that share it, the one in it at `position`."""
    return np.array([_value(scheduled, int(row), position) for row in rows], np.int64)


def _value(scheduled: ScheduledBuffers, row: int, position: int | None) -> int:
    first = scheduled.first_life
    if row < first or position is None:
        return int(scheduled.buffers.value[row])
    lives = scheduled.lives
    begin, end = np.searchsorted(lives.member_of, [row - first, row - first + 1])
    holds = int(lives.value[row - first])
    for place in range(int(begin), int(end)):
        value = int(lives.member[place])
        maker = int(scheduled.row[value])
        if lives.since[place] <= position and maker >= 0 and scheduled.ops.opcode[maker] not in _HANDS_ON:
            holds = value
    return holds


def carried(scheduled: ScheduledBuffers, row: int) -> int:
    """The part of a loop's result that shares a buffer, which may be named after what it holds before; -1 for none."""
    first, lives = scheduled.first_life, scheduled.lives
    if row < first:
        return -1
    begin, end = np.searchsorted(lives.member_of, [row - first, row - first + 1])
    makers = scheduled.row[lives.member[begin:end]]
    loops = np.flatnonzero((makers >= 0) & (scheduled.ops.opcode[makers] == b"while"))
    return int(lives.member[begin + loops[0]]) if len(loops) else -1


def title(scheduled: ScheduledBuffers, value: int) -> str | None:
    """A value's name: its instruction's, with its tuple index as XLA writes it; None where unknown."""
    maker = int(scheduled.row[value]) if value >= 0 else -1
    index = scheduled.assignment.values.index[value] if value >= 0 else []
    if maker < 0:
        return None
    return scheduled.ops.names[maker].decode() + (f"{{{','.join(map(str, index))}}}" if index else "")


def shape(scheduled: ScheduledBuffers, value: int) -> str:
    """A value's shape as HLO writes it, "" where unknown."""
    return parts.text(scheduled.shapes, value) if value >= 0 else ""


def first_known(places: Longs, *instructions: Longs) -> Longs:
    """The row of the document of the first of these instructions that has one; -1 for none."""
    rows = np.full(len(instructions[0]), -1, np.int64)
    for instruction in instructions:
        rows = np.where((rows < 0) & (instruction >= 0), places[np.maximum(instruction, 0)], rows)
    return rows
