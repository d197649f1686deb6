"""The live range of each buffer: XLA's heap simulation mapped onto the schedule.

A value that shares memory with another (SHARE_WITH) is part of the same buffer: a loop's carry is one buffer, not four.
XLA's events are in the order of the schedule but have no positions. An allocation is at the position of its
instruction; a deallocation is between its neighbours, where the last user runs.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir.hlo.buffer_assignment import ALLOC, FREE, SHARE, Assignment, Trace
from jaxstage_ext.ir.wire.protowire import Longs


@dataclass(frozen=True, eq=False)
class Lives:
    """Buffers of temporary memory, one row each."""

    value: Longs
    """The value that the memory was allocated for."""
    start: Longs
    end: Longs
    """`start`, `end`: positions in the schedule, both inclusive."""
    member_of: Longs
    member: Longs
    since: Longs
    """`member_of`, `member`, `since`: the values of each buffer (row), and the position where each begins; by row, then
    time."""

    def __len__(self) -> int:
        return len(self.value)


def read(assignment: Assignment, made: Longs, last_use: Longs, length: int) -> Lives:
    """The live ranges of all buffers that a trace records.

    `made` and `last_use` are, per value, the positions of its instruction (-1 unknown) and of its last user; `length`
    is the schedule's.
    """
    spans = _Spans(assignment)
    parts = [_replayed(trace, made, last_use, length, spans) for trace in assignment.traces]
    rows = sorted((row for part in parts for row in part), key=lambda row: (row.start, row.value))
    members = [(i, value, since) for i, row in enumerate(rows) for value, since in row.members]
    columns = np.array(members, np.int64).reshape(-1, 3).T
    return Lives(
        np.array([row.value for row in rows], np.int64),
        np.array([row.start for row in rows], np.int64),
        np.array([row.end for row in rows], np.int64),
        *(np.ascontiguousarray(column) for column in columns),
    )


class _Row:
    __slots__ = ("end", "holders", "members", "start", "value")

    def __init__(self, value: int, start: int) -> None:
        self.value, self.start, self.end, self.holders = value, start, -1, 1
        self.members = [(value, start)]


def _replayed(trace: Trace, made: Longs, last_use: Longs, length: int, spans: _Spans) -> list[_Row]:
    """The buffers of one trace. A value that is put over a live one (TPU, in place) ends it."""
    kinds, values, shared = trace.kind.tolist(), trace.value.tolist(), trace.canonical.tolist()
    if not len(trace.kind):
        return []
    moments, until = _moments(trace, made, length)
    use = last_use.tolist()
    holder: dict[int, _Row] = {}
    rows: list[_Row] = []
    covered = None if trace.ordered else _Covered(spans)
    for kind, value, canonical, now, following in zip(kinds, values, shared, moments, until, strict=True):
        row = holder.get(canonical if kind == SHARE else value)
        if kind == FREE:
            if row is not None:
                row.holders -= 1
                if not row.holders and row.end < 0:
                    row.end = max(min(max(_last_use(row, use), now), following - 1), row.start)
                    if covered:
                        covered.remove(row)
            continue
        if kind == SHARE and row is not None and row.holders:
            row.holders += 1
            row.members.append((value, now))
            holder[value] = row
        elif row is not None and row.value == value and row.end >= now - 1:  # freed and taken again at once
            row.holders, row.end = 1, -1
        elif value >= 0:
            row = holder[value] = _Row(value, now)
            if kind == SHARE:  # the memory of one that was freed, once more: who shares with that one shares with this
                holder[canonical] = row
            rows.append(row)
        if covered and row is not None and row.holders == 1:
            covered.add(row)
    for row in rows:
        if row.end < 0:
            row.end = length - 1
    return [row for row in rows if row.end >= row.start]


def _last_use(row: _Row, use: list[int]) -> int:
    return max(use[value] for value, _ in row.members)


def _moments(trace: Trace, made: Longs, length: int) -> tuple[list[int], list[int]]:
    """Per event, the position that the schedule has reached, and that of the next allocation."""
    makes = (trace.kind != FREE) & (trace.value >= 0)
    at = np.where(makes, made[np.maximum(trace.value, 0)], -1)
    reached = np.maximum(np.maximum.accumulate(at), 0)
    ahead = np.append(np.where(makes, reached, length), length)
    following = np.minimum.accumulate(ahead[::-1])[::-1]
    return reached.tolist(), following[1:].tolist()


class _Spans:
    """The place of each value: its allocation, first byte, and the byte after its last."""

    def __init__(self, assignment: Assignment) -> None:
        allocations = assignment.allocations
        value = allocations.values.values
        known = value >= 0
        size = assignment.values.size
        self.place = np.full(len(size), -1, np.int64)
        self.begin = np.zeros(len(size), np.int64)
        self.place[value[known]] = allocations.values.owner[known]
        self.begin[value[known]] = allocations.offset[known]
        self.end = self.begin + size

    def of(self, value: int) -> tuple[int, int]:
        return int(self.begin[value]), int(self.end[value])


class _Covered:
    """The bytes of live buffers, so that a new buffer ends those that it overwrites."""

    def __init__(self, spans: _Spans) -> None:
        self._spans = spans
        self._begins: list[int] = []
        self._rows: list[_Row] = []

    def add(self, row: _Row) -> None:
        begin, end = self._spans.of(row.value)
        place = bisect.bisect_left(self._begins, begin)
        while place < len(self._begins) and self._begins[place] < end:
            other = self._rows[place]
            if self._spans.of(other.value)[1] > end:
                break
            other.end = row.start - 1
            del self._begins[place], self._rows[place]
        self._begins.insert(place, begin)
        self._rows.insert(place, row)

    def remove(self, row: _Row) -> None:
        begin = self._spans.of(row.value)[0]
        place = bisect.bisect_left(self._begins, begin)
        while place < len(self._rows) and self._begins[place] == begin:
            if self._rows[place] is row:
                del self._begins[place], self._rows[place]
                return
            place += 1


def simulated(assignment: Assignment) -> list[int]:
    """The peak of each trace as XLA's memory statistics count it, with values that are put over others."""
    size, peaks = assignment.values.size.tolist(), []
    for trace in assignment.traces:
        root: dict[int, int] = {}
        holders: dict[int, int] = {}
        now = peak = 0
        for kind, value, canonical in zip(
            trace.kind.tolist(), trace.value.tolist(), trace.canonical.tolist(), strict=True
        ):
            if kind == SHARE:
                root[value] = root.get(canonical, canonical)
            owner = root.get(value, value)
            before = holders.get(owner, 0)
            holders[owner] = before + (-1 if kind == FREE else 1)
            if kind == FREE and holders[owner] == 0:
                now -= size[owner]
            elif kind != FREE and (before == 0 or kind == ALLOC):
                now += size[owner]
            peak = max(peak, now)
        peaks.append(peak)
    return peaks
