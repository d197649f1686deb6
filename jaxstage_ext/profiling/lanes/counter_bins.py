"""What is drawn of a counter in one tile of a timeline."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.lanes.tile_grid import BINS, TileGrid
from jaxstage_ext.profiling.lanes.tiles import Segments
from jaxstage_ext.report.recording import NONE, CounterSeries


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
