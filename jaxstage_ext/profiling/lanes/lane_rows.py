"""The rows in which a timeline is drawn, and their order: one for each lane and depth, whose events do not overlap."""

from __future__ import annotations

import heapq
import re
import weakref
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.recording import EventLane, Index, LaneKind, Picoseconds, Recording

DEEPEST = 64
"""Nesting depths that are drawn of a lane; deeper events are counted only."""


@dataclass(frozen=True, eq=False)
class LaneRows:
    """The events of a recording by row. The rows of a lane follow each other, the outermost first."""

    first: npt.NDArray[np.int64]
    """Of each lane its first row, and at the end the number of rows."""
    offset: npt.NDArray[np.int64]
    """Of each row where its events begin in `event`, and at the end the number of events that are drawn."""
    event: Index
    """Indices of the events, by row, then start."""
    start: Picoseconds
    end: Picoseconds
    """`start`, `end`: of these, in picoseconds. Both rise within a row."""
    depth: Index
    """Nesting depth of each event of the recording, 0 for the outermost."""
    deeper: npt.NDArray[np.int64]
    """Of each lane the events below `DEEPEST`, which no row has."""

    def rows_of(self, lane: int) -> range:
        """The rows of a lane."""
        return range(int(self.first[lane]), int(self.first[lane + 1]))

    def slice_of(self, row: int, start: int, end: int) -> slice:
        """The events of a row that are in [start, end) at least in part, in picoseconds; instants at its start too."""
        low, high = int(self.offset[row]), int(self.offset[row + 1])
        first = low + int(np.searchsorted(self.end[low:high], start, side="left"))
        last = low + int(np.searchsorted(self.start[low:high], end, side="left"))
        while first < last and self.end[first] == start and self.start[first] < start:
            first += 1
        return slice(first, max(first, last))


_known: weakref.WeakKeyDictionary[Recording, LaneRows] = weakref.WeakKeyDictionary()


def lane_rows(recording: Recording) -> LaneRows:
    """The rows of a recording, computed once."""
    if (known := _known.get(recording)) is None:
        known = _known[recording] = _rows(recording)
    return known


def _rows(recording: Recording) -> LaneRows:
    events, lanes = recording.events, len(recording.lanes)
    depth = stacked_depth(recording)
    is_deep = depth >= DEEPEST
    drawn = np.flatnonzero(~is_deep)
    lane = events.lane[drawn].astype(np.int64)
    order = drawn[np.argsort(lane * DEEPEST + depth[drawn], kind="stable")]
    deepest = np.full(lanes, -1, np.int64)
    np.maximum.at(deepest, lane, depth[drawn])
    first = np.concatenate([[0], np.cumsum(np.maximum(deepest + 1, 1))])
    counts = np.bincount(first[events.lane[order]] + depth[order], minlength=int(first[-1]))
    return LaneRows(
        first=first,
        offset=np.concatenate([[0], np.cumsum(counts)]),
        event=order.astype(np.int32),
        start=events.start[order],
        end=events.end[order],
        depth=depth,
        deeper=np.bincount(events.lane[is_deep], minlength=lanes),
    )


def stacked_depth(recording: Recording) -> Index:
    """The depth of each event: how many of its lane are open where it starts; those that do not nest, side by side."""
    events = recording.events
    depth = np.zeros(len(events), np.int32)
    bounds = np.searchsorted(events.lane, np.arange(len(recording.lanes) + 1))
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if high > low:
            depth[low:high] = _depth(events.start[low:high], events.end[low:high])
    return depth


def _depth(start: Picoseconds, end: Picoseconds) -> Index:
    if not (start[1:] < np.maximum.accumulate(end)[:-1]).any():
        return np.zeros(len(start), np.int32)
    nested = _open_at_start(start, end)
    order = np.argsort(nested, kind="stable")
    same = nested[order][1:] == nested[order][:-1]
    is_nested = not (same & (start[order][1:] < end[order][:-1])).any()
    return nested if is_nested else _side_by_side(start, end)


def _open_at_start(start: Picoseconds, end: Picoseconds) -> Index:
    """Of events sorted by start, longest first: how many before it end after it starts."""
    closed = np.searchsorted(np.sort(end), start, side="right")
    is_instant = end == start
    later = np.cumsum(is_instant[::-1])[::-1]
    group_end = np.searchsorted(start, start, side="right")
    own_instants = later - np.append(later, 0)[group_end]
    depth: Index = np.maximum(np.arange(len(start)) - (closed - own_instants), 0).astype(np.int32)
    return depth


def _side_by_side(start: Picoseconds, end: Picoseconds) -> Index:
    """Each event at the least depth that is free where it starts."""
    depth = np.zeros(len(start), np.int32)
    free: list[int] = []
    running: list[tuple[int, int]] = []
    used = 0
    for event, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while running and running[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(running)[1])
        if free:
            own = heapq.heappop(free)
        else:
            own, used = used, used + 1
        depth[event] = own
        heapq.heappush(running, (stop, own))
    return depth


_KINDS = {kind: place for place, kind in enumerate(LaneKind)}


def lane_order(recording: Recording) -> list[int]:
    """Indices of all lanes in the order in which they are shown: devices before hosts, hidden lanes last in a group."""
    lanes = recording.lanes
    first: dict[tuple[int, str], int] = {}
    for number, lane in enumerate(lanes):
        first.setdefault((lane.host, lane.group), number)
    has_device = {(lane.host, lane.group) for lane in lanes if lane.device >= 0}

    def place(number: int) -> tuple[object, ...]:
        lane = lanes[number]
        group = (lane.host, lane.group)
        return group not in has_device, first[group], lane.hidden, _KINDS[lane.kind], natural(lane), number

    return sorted(range(len(lanes)), key=place)


def natural(lane: EventLane) -> list[tuple[int, str]]:
    """A lane's name for sorting: numbers in it by their value, so that "Stream #9" is before "Stream #13"."""
    return [
        (int(part), "") if part.isascii() and part.isdecimal() else (-1, part)
        for part in re.split(r"([0-9]{1,18})", lane.name[:200])
    ]
