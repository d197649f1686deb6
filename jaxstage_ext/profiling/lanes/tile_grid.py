"""The grid in which a timeline is asked for: time at each level of detail, cut into tiles of equally many bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaxstage_ext.report.recording import Recording

BINS = 512
"""Bins of a tile; about one pixel each."""


@dataclass(frozen=True)
class TileGrid:
    """Tiles over a recording's time. At level 0 there is one tile; each further level halves the bins."""

    base: int
    """Where tile 0 begins, in picoseconds since the recording's origin."""
    levels: int
    """Number of levels; a bin of the last is one picosecond long."""
    end: int
    """Where the last event ends."""

    def bin(self, level: int) -> int:
        """The length of a bin, in picoseconds."""
        return 1 << (self.levels - 1 - level)

    def start(self, level: int, tile: int) -> int:
        """Where a tile begins, in picoseconds."""
        return self.base + tile * BINS * self.bin(level)


def tile_grid(recording: Recording) -> TileGrid:
    """The grid over all events and samples of a recording."""
    starts = [int(np.min(recording.events.start))] if len(recording.events) else []
    ends = [int(np.max(recording.events.end))] if len(recording.events) else []
    for series in recording.counters:
        if len(series.time):
            starts.append(int(np.min(series.time)))
            ends.append(int(np.max(series.time)))
    base, end = min(starts, default=0), max(ends, default=0)
    needed = -(-max(end - base, 1) // BINS)
    return TileGrid(base, (needed - 1).bit_length() + 1, end)
