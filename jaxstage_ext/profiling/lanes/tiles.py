"""What is drawn of a timeline in one tile of its grid: long events exactly, short ones merged by bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.lanes.event_styles import EventStyles
from jaxstage_ext.profiling.lanes.lane_rows import LaneRows
from jaxstage_ext.profiling.lanes.tile_grid import BINS, TileGrid
from jaxstage_ext.report.recording import NONE, CounterSeries, Index, Recording

_MOST_SUMS = 2_000_000
"""Sums of (bin, look) that are made at once."""


@dataclass(frozen=True, eq=False)
class Segments:
    """What is drawn, as columns, by row: each event at least a bin long, and the shorter ones of a bin together."""

    row: npt.NDArray[np.uint8]
    """Of the lane, 0 for its outermost events."""
    left: npt.NDArray[np.float32]
    right: npt.NDArray[np.float32]
    """`left`, `right`: from the tile's start, in bins; cut where they are outside the tile."""
    event: npt.NDArray[np.int32]
    """Index of the event; of a merged segment the longest one in it."""
    look: npt.NDArray[np.int32]
    """The event's look, an index into `EventStyles`; of a merged segment that which takes the most time in it."""
    busy: npt.NDArray[np.uint8]
    """The busy part of the segment, 0 to 255; 255 for an event."""
    count: npt.NDArray[np.int32]
    """How many events it stands for."""
    seconds: npt.NDArray[np.float32]
    """Of an event its duration, of a merged segment the sum of the durations."""

    def __len__(self) -> int:
        return len(self.row)


def lane_segments(
    recording: Recording, rows: LaneRows, styles: EventStyles, grid: TileGrid, level: int, tile: int, lane: int
) -> Segments:
    """What is drawn of a lane in a tile."""
    start, length = grid.start(level, tile), grid.bin(level)
    parts = []
    for number, row in enumerate(rows.rows_of(lane)):
        part = rows.slice_of(row, start, start + BINS * length)
        if part.start < part.stop:
            window = _Window(rows.start[part] - start, rows.end[part] - start, rows.event[part], length)
            parts += [_exact(window, styles, number), _merged(window, styles, number)]
    return joined(parts)


def joined(parts: Sequence[Segments]) -> Segments:
    """The segments of several rows, one after the other."""
    if not parts:
        return Segments(*(np.zeros(0, dtype) for dtype in _DTYPES))
    return Segments(*(np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS))


COLUMNS = tuple(field.name for field in fields(Segments))
_DTYPES: tuple[Any, ...] = (np.uint8, np.float32, np.float32, np.int32, np.int32, np.uint8, np.int32, np.float32)


@dataclass(frozen=True, eq=False)
class _Window:
    """Events of one row; times in picoseconds from the tile's start, the length of a bin in the same."""

    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    event: npt.NDArray[np.int32]
    bin: int


def _exact(window: _Window, styles: EventStyles, row: int) -> Segments:
    """Events at least a bin long."""
    duration = window.end - window.start
    at = np.flatnonzero(duration >= window.bin)
    left = np.maximum(window.start[at], -window.bin) / window.bin
    right = np.minimum(window.end[at], (BINS + 1) * window.bin) / window.bin
    count = len(at)
    return Segments(
        row=np.full(count, row, np.uint8),
        left=left.astype(np.float32),
        right=right.astype(np.float32),
        event=window.event[at],
        look=styles.of_event[window.event[at]],
        busy=np.full(count, 255, np.uint8),
        count=np.ones(count, np.int32),
        seconds=(duration[at] * 1e-12).astype(np.float32),
    )


def _merged(window: _Window, styles: EventStyles, row: int) -> Segments:
    """Events shorter than a bin, merged by bin; one that reaches into the next bin counts where it starts."""
    is_short = window.end - window.start < window.bin
    if not is_short.any():
        return joined([])
    start, end, event = window.start[is_short], window.end[is_short], window.event[is_short]
    place = start // window.bin
    edge = np.minimum(end, (place + 1) * window.bin)
    over = np.flatnonzero(end > edge)
    place, part = np.append(place, place[over] + 1), np.append(edge - start, (end - edge)[over])
    is_start = np.arange(len(place)) < len(event)
    event = np.append(event, event[over])
    order = np.argsort(place, kind="stable")
    order = order[(place[order] >= 0) & (place[order] < BINS)]
    return _by_bin(place[order], part[order], event[order], is_start[order], styles, window.bin, row)


def _by_bin(
    place: npt.NDArray[np.int64],
    part: npt.NDArray[np.int64],
    event: npt.NDArray[np.int32],
    is_start: npt.NDArray[np.bool_],
    styles: EventStyles,
    length: int,
    row: int,
) -> Segments:
    """One segment a bin, of parts of events sorted by bin."""
    where = np.flatnonzero(np.diff(place, prepend=-1))
    if not len(where):
        return joined([])
    group = np.repeat(np.arange(len(where)), np.diff(where, append=len(place)))
    left, time = place[where], np.add.reduceat(part, where)
    return Segments(
        row=np.full(len(where), row, np.uint8),
        left=left.astype(np.float32),
        right=(left + 1).astype(np.float32),
        event=event[_longest(group, where, part)],
        look=_dominant(group, len(where), part, styles.of_event[event]),
        busy=np.ceil(np.minimum(time / length, 1.0) * 255).astype(np.uint8),
        count=np.add.reduceat(is_start, where, dtype=np.int32),
        seconds=(time * 1e-12).astype(np.float32),
    )


def _longest(
    group: npt.NDArray[np.int64], where: npt.NDArray[np.int64], part: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Of each group the place of its longest part; groups begin at `where`."""
    is_longest = np.flatnonzero(part == np.maximum.reduceat(part, where)[group])
    return is_longest[np.flatnonzero(np.diff(group[is_longest], prepend=-1))]


def _dominant(
    group: npt.NDArray[np.int64], groups: int, part: npt.NDArray[np.int64], look: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """The look that takes the most time in each group; of instants the most frequent."""
    known = np.flatnonzero(np.bincount(look))
    code = np.searchsorted(known, look)
    weight = part + 1
    if groups * len(known) <= _MOST_SUMS:
        sums = np.bincount(group * len(known) + code, weight, groups * len(known))
        return known[sums.reshape(groups, len(known)).argmax(axis=1)].astype(np.int32)
    pair, inverse = np.unique(group * len(known) + code, return_inverse=True)
    order = np.lexsort((np.bincount(inverse, weight), pair // len(known)))
    last = np.searchsorted(pair[order] // len(known), np.arange(groups), side="right") - 1
    dominant: Index = known[pair[order][last] % len(known)].astype(np.int32)
    return dominant


def counter_segments(series: CounterSeries, grid: TileGrid, level: int, tile: int) -> Segments:
    """Steps of a counter: each holds its value until the next sample; of several in a bin the highest counts.

    `seconds` has the value, `event` and `look` nothing.
    """
    start, length = grid.start(level, tile), grid.bin(level)
    order = np.argsort(series.time, kind="stable")
    time, value = series.time[order], series.value[order]
    known = np.isfinite(value)
    time, value = time[known], value[known]
    first = max(0, int(np.searchsorted(time, start, side="right")) - 1)
    last = int(np.searchsorted(time, start + BINS * length, side="left"))
    place = np.maximum((time[first:last] - start) // length, -1)
    where = np.flatnonzero(np.diff(place, prepend=-2))
    highest = np.maximum.reduceat(value[first:last], where) if len(where) else np.zeros(0)
    left = place[where].astype(np.float32)
    count = len(where)
    end = np.float32((int(time[last]) - start) / length if last < len(time) else BINS)
    return Segments(
        row=np.zeros(count, np.uint8),
        left=left,
        right=np.append(left[1:], np.minimum(end, BINS))[:count].astype(np.float32),
        event=np.full(count, NONE, np.int32),
        look=np.full(count, NONE, np.int32),
        busy=np.full(count, 255, np.uint8),
        count=np.diff(where, append=last - first).astype(np.int32),
        seconds=highest.astype(np.float32),
    )
