"""The rows in which a timeline is drawn: one for each lane and nesting depth, whose events do not overlap."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.lanes.stacked_events import stacked_depth
from jaxstage_ext.report.recording import Index, Picoseconds, Recording

DEEPEST = 64
"""Nesting depths that are drawn of a lane; deeper events are counted only."""


@dataclass(frozen=True, eq=False)
class LaneRows:
    """The events of a recording by row. The rows of a lane follow each other, the outermost first.

    Attributes:
      first: of each lane its first row, and at the end the number of rows.
      offset: of each row where its events begin in `event`, and at the end the number of events that are drawn.
      event: indices of the events, by row, then start.
      start, end: of these, in picoseconds. Both rise within a row.
      depth: nesting depth of each event of the recording, 0 for the outermost.
      deeper: of each lane the events below `DEEPEST`, which no row has.
    """

    first: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    event: Index
    start: Picoseconds
    end: Picoseconds
    depth: Index
    deeper: npt.NDArray[np.int64]

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
