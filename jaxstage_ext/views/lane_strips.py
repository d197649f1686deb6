"""The lanes of a timeline, coarse: for each lane and column of pixels, what kind of event takes most of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import DEVICE_WORK, EventKind, LaneKind

LEVELS = 3
"""Shades of a column, by how much of it is covered."""
COLOURS: dict[EventKind, str] = {
    EventKind.OTHER: "#8a8f98",
    EventKind.OP: "#3d7fc9",
    EventKind.KERNEL: "#3d7fc9",
    EventKind.COPY: "#d0852a",
    EventKind.COLLECTIVE: "#b34a9c",
    EventKind.MODULE: "#7f93b3",
    EventKind.STEP: "#9a8fc0",
    EventKind.HOST: "#8a8f98",
    EventKind.PYTHON: "#4b9b63",
    EventKind.COMPILE: "#a1902a",
    EventKind.LAUNCH: "#5f6fd0",
    EventKind.WAIT: "#b9bec6",
    EventKind.RANGE: "#2f9c9c",
}
"""Of the kinds of events, on light and on dark ground."""
_MOST_LANES = 24
Window = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LaneStrip:
    """One lane.

    Attributes:
      kind: the `EventKind` that takes most of each column.
      level: how much of each column is covered: 0 nothing, up to `LEVELS` nearly all.
    """

    group: str
    name: str
    lane: int
    kind: npt.NDArray[np.uint8]
    level: npt.NDArray[np.uint8]


def whole(timeline: Timeline) -> Window:
    """From the first start to the last end, in picoseconds; (0, 0) without events."""
    events = timeline.columns
    return (int(np.min(events.start)), int(np.max(events.end))) if len(events) else (0, 0)


def lane_strips(
    timeline: Timeline, columns: int, window: Window | None = None, most: int = _MOST_LANES
) -> tuple[list[LaneStrip], int]:
    """The lanes that have events in the window, and how many more there are; those with most device work are kept."""
    window = whole(timeline) if window is None else window
    recording = timeline.recording
    shown = [
        lane
        for lane, about in enumerate(recording.lanes)
        if not about.hidden and about.kind != LaneKind.COUNTER and _has_events(timeline, lane, window)
    ]
    work = {lane: _work(timeline, lane, window) for lane in shown}
    kept = sorted(sorted(shown, key=lambda lane: -work[lane])[:most])
    return [_strip(timeline, lane, columns, window) for lane in kept], len(shown) - len(kept)


def _inside(timeline: Timeline, lane: int, window: Window) -> slice:
    """The events of a lane that begin before the window ends; those that end before it begins cover nothing."""
    events = timeline.columns
    first, last = np.searchsorted(events.lane, [lane, lane + 1])
    return slice(int(first), int(first + np.searchsorted(events.start[first:last], window[1])))


def _has_events(timeline: Timeline, lane: int, window: Window) -> bool:
    inside = _inside(timeline, lane, window)
    return bool((timeline.columns.end[inside] >= window[0]).any())


def _work(timeline: Timeline, lane: int, window: Window) -> float:
    events, inside = timeline.columns, _inside(timeline, lane, window)
    is_work = np.isin(events.kind[inside], DEVICE_WORK)
    return float(events.duration[inside][is_work].sum(dtype=np.float64))


def _strip(timeline: Timeline, lane: int, columns: int, window: Window) -> LaneStrip:
    events, inside = timeline.columns, _inside(timeline, lane, window)
    edges = np.linspace(window[0], window[1], columns + 1)
    size = max(1.0, (window[1] - window[0]) / columns)
    kinds, best, chosen = events.kind[inside], np.zeros(columns), np.zeros(columns, np.uint8)
    covered = np.zeros(columns)
    for kind in np.unique(kinds).tolist():
        of_kind = kinds == kind
        share = _coverage(events.start[inside][of_kind], events.duration[inside][of_kind], edges) / size
        is_finer = share >= best * (0.5 if EventKind(kind) in DEVICE_WORK else 1.0)
        chosen = np.where((share > 0) & is_finer, kind, chosen).astype(np.uint8)
        best, covered = np.maximum(best, share), covered + share
    level = np.ceil(np.clip(covered, 0, 1) * LEVELS - 1e-9).astype(np.uint8)
    about = timeline.recording.lanes[lane]
    return LaneStrip(about.group, about.name, lane, chosen, level)


def _coverage(
    start: npt.NDArray[np.int64], duration: npt.NDArray[np.int64], edges: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Picoseconds of the events in each column; instants count as one."""
    starts = np.sort(start).astype(np.float64)
    ends = np.sort(start + np.maximum(duration, 1)).astype(np.float64)
    return np.diff(_elapsed_since(starts, edges) - _elapsed_since(ends, edges))


def _elapsed_since(moments: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For each edge the sum of the times since the moments before it."""
    before = np.searchsorted(moments, edges)
    sums = np.concatenate([[0.0], np.cumsum(moments - edges[0])])
    return np.asarray(before * (edges - edges[0]) - sums[before])
