"""The buffers of a module: what each holds, its size, its live range and its kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.memory import live_ranges, uses
from jaxstage_ext.analysis.memory.live_ranges import Lives
from jaxstage_ext.analysis.memory.uses import Uses
from jaxstage_ext.ir.hlo import parts
from jaxstage_ext.ir.hlo.buffer_assignment import Assignment
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.schedule import Schedule
from jaxstage_ext.ir.hlo.shapes import TYPES, Shapes
from jaxstage_ext.ir.wire.protowire import Longs


class Kind(IntEnum):
    """Why a buffer is live. A residual is made by the forward pass of a derivative and read by the backward pass."""

    ARGUMENT = 0
    OUTPUT = 1
    CONSTANT = 2
    TEMPORARY = 3
    RESIDUAL = 4

    @property
    def title(self) -> str:
        """The name that tables show: "argument"."""
        return self.name.lower()


@dataclass(frozen=True, eq=False)
class Buffers:
    """Pieces of memory, each with one live range; one row per buffer."""

    value: Longs
    """The value (row of the assignment) that it is named after."""
    instruction: Longs
    """Row of the module, -1 unknown."""
    space: Longs
    """Memory space (XLA's color)."""
    size: Longs
    """Bytes that it takes."""
    used: Longs
    """Bytes of those that hold data."""
    start: Longs
    end: Longs
    """`start`, `end`: positions in the schedule, inclusive."""
    kind: Longs
    """A Kind."""
    parameter: Longs
    """Number of the module's parameter, -1 for none."""
    allocation: Longs
    """Where it is."""
    output: npt.NDArray[np.bool_]
    """Whether it holds a result of the program in the end."""
    traced: npt.NDArray[np.bool_]
    """Whether XLA records its live range; one without counts as live throughout, since it shares its place with no
    other."""

    def __len__(self) -> int:
        return len(self.value)

    def at(self, position: int, space: int) -> Longs:
        """The buffers that are live at a position, the largest first."""
        rows = np.flatnonzero((self.space == space) & (self.start <= position) & (position <= self.end))
        return rows[np.argsort(-self.size[rows], kind="stable")]


@dataclass(frozen=True, eq=False)
class ScheduledBuffers:
    """A module's buffers over its schedule, and what they were read from."""

    ops: Module = field(repr=False)
    assignment: Assignment = field(repr=False)
    schedule: Schedule
    uses: Uses
    row: Longs
    """Per value, its instruction."""
    shapes: Shapes
    """Per value."""
    lives: Lives
    """Live ranges of temporary memory; its rows are those of `buffers` from `first_life` on."""
    buffers: Buffers
    first_life: int


def read(ops: Module, assignment: Assignment, schedule: Schedule, scopes: list[str]) -> ScheduledBuffers:
    """The buffers of a module over its schedule; `scopes` are the instructions' name stacks."""
    used = uses.read(ops, schedule.position, scopes)
    values = assignment.values
    row = ops.rows_of_ids(values.instruction)
    known = row >= 0
    made = np.where(known, schedule.position[row], -1)
    element = values.index.at(0)
    last = np.where(element >= 0, uses.of_elements(ops, used, row, element), used.last[row])
    lives = live_ranges.read(assignment, made, np.where(known, last, -1), len(schedule))
    shapes = parts.read(ops, np.maximum(row, 0), values.index)
    held = _held(assignment, made, lives)
    throughout = _throughout(assignment, shapes, row, len(schedule), *held)
    buffers = _joined(throughout, _temporary(assignment, shapes, row, lives, used))
    return ScheduledBuffers(ops, assignment, schedule, used, row, shapes, lives, buffers, len(held[0]))


def _held(assignment: Assignment, made: Longs, lives: Lives) -> tuple[Longs, Longs, Longs, Longs, Longs]:
    """(value, allocation, kind, size, traced) of what is live for the whole run.

    A result's memory may hold other values before it; the buffer is named after the largest, or the last of these.
    """
    allocations = assignment.allocations
    rows = np.flatnonzero(allocations.held & ~allocations.local)
    value = np.array([_named_after(assignment, made, int(i)) for i in rows], np.int64)
    kind = np.where(
        allocations.argument[rows],
        Kind.ARGUMENT,
        np.where(allocations.constant[rows], Kind.CONSTANT, Kind.OUTPUT),
    )
    loose, where = _untraced(assignment, lives)
    return (
        np.concatenate([value, loose]),
        np.concatenate([rows, where]),
        np.concatenate([kind, np.full(len(loose), Kind.TEMPORARY)]),
        np.concatenate([allocations.size[rows], assignment.values.size[loose]]),
        np.concatenate([np.ones(len(rows), np.int64), np.zeros(len(loose), np.int64)]),
    )


def _named_after(assignment: Assignment, made: Longs, allocation: int) -> int:
    values = [value for value in assignment.allocations.values[allocation] if value >= 0]
    if assignment.allocations.argument[allocation] and values:
        return min(values, key=lambda value: int(made[value]))
    size = assignment.values.size
    return max(values, key=lambda value: (int(size[value]), int(made[value])), default=-1)


def _untraced(assignment: Assignment, lives: Lives) -> tuple[Longs, Longs]:
    """(value, allocation) of values in temporary memory that no trace records and that share their place with no other.

    A value that covers others is a view of them as one piece (libtpu's concatenations in VMEM).
    """
    allocations = assignment.allocations
    value, owner = allocations.values.values, allocations.values.owner
    traced = np.zeros(len(assignment.values.size) + 1, bool)
    traced[lives.member] = True
    begin = allocations.offset
    end = begin + assignment.values.size[value]
    temporary = allocations.temporary[owner] & (value >= 0)
    alone: list[int] = []
    for allocation in np.unique(owner[temporary & ~traced[value]]).tolist():
        mine = owner == allocation
        taken, loose = np.flatnonzero(mine & traced[value]), np.flatnonzero(mine & ~traced[value])
        order = taken[np.argsort(begin[taken])]
        reach = np.maximum.accumulate(np.concatenate([[0], end[order]]))
        free = reach[np.searchsorted(begin[order], end[loose])] <= begin[loose]
        last = -1
        for place in sorted(loose[free].tolist(), key=lambda place: (int(begin[place]), -int(end[place]))):
            if begin[place] >= last:
                alone.append(place)
                last = int(end[place])
    chosen = np.array(alone, np.int64)
    return value[chosen], owner[chosen]


_Columns = tuple[npt.NDArray[Any], ...]


def _throughout(
    assignment: Assignment, shapes: Shapes, row: Longs, length: int, value: Longs, allocation: Longs, kind: Longs,
    size: Longs, traced: Longs,
) -> _Columns:  # fmt: skip
    allocations = assignment.allocations
    start = np.zeros(len(value), np.int64)
    return (
        value, np.where(value >= 0, row[value], -1), allocations.color[allocation], size,
        np.where(value >= 0, _data(shapes, value, size), size), start, start + max(length - 1, 0),
        kind, allocations.parameter[allocation], allocation, allocations.output[allocation], traced,
    )  # fmt: skip


def _temporary(assignment: Assignment, shapes: Shapes, row: Longs, lives: Lives, used: Uses) -> _Columns:
    value, size = lives.value, assignment.values.size[lives.value]
    place = np.full(len(assignment.values.size), -1, np.int64)
    place[assignment.allocations.values.values] = assignment.allocations.values.owner
    saved = np.zeros(len(lives), bool)
    np.logical_or.at(saved, lives.member_of, (row[lives.member] >= 0) & used.saved[row[lives.member]])
    return (
        value, row[value], assignment.values.color[value], size, _data(shapes, value, size), lives.start, lives.end,
        np.where(saved, Kind.RESIDUAL, Kind.TEMPORARY), np.full(len(value), -1), place[value],
        np.zeros(len(value), bool), np.ones(len(value), bool),
    )  # fmt: skip


def _data(shapes: Shapes, value: Longs, size: Longs) -> Longs:
    """Bytes of data; a tuple has its table of addresses, a token its own bytes."""
    array = np.isin(shapes.element_type[value], list(TYPES))
    return np.where(array, np.minimum(shapes.bytes[value], size), size)


def _joined(held: _Columns, living: _Columns) -> Buffers:
    columns: Any = [np.concatenate([a, b]) for a, b in zip(held, living, strict=True)]
    output, traced = (column.astype(bool) for column in columns[-2:])
    made: tuple[Any, ...] = (*columns[:-2], output, traced)
    return Buffers(*made)
