"""How deep each event of a recording is drawn in its lane, so that no two of one depth overlap."""

from __future__ import annotations

import heapq

import numpy as np

from jaxstage_ext.report.recording import Index, Picoseconds, Recording


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
