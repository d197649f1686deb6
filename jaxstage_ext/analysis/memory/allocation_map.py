"""The position of each buffer in a picture of memory: what is held throughout at the bottom, temporaries above."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.analysis.memory.buffers import ScheduledBuffers
from jaxstage_ext.ir.wire.protowire import Longs


def heights(scheduled: ScheduledBuffers) -> Longs:
    """Per buffer, the height of its lower edge in bytes.

    Buffers that are live at the same time never overlap; gaps are memory that is reserved but unused.
    """
    buffers = scheduled.buffers
    height = np.zeros(len(buffers), np.int64)
    for color in np.unique(scheduled.assignment.allocations.color).tolist():
        mine = np.flatnonzero(buffers.space == color)
        temporary = scheduled.assignment.allocations.temporary[buffers.allocation[mine]]
        held = mine[~temporary]
        held = held[np.lexsort((-buffers.size[held], buffers.kind[held]))]
        top = np.cumsum(buffers.size[held])
        height[held] = top - buffers.size[held]
        _stack(scheduled, mine[temporary], int(top[-1]) if len(top) else 0, height)
    return height


def _stack(scheduled: ScheduledBuffers, rows: Longs, base: int, height: Longs) -> None:
    """Stack the allocations of temporary memory."""
    buffers, allocations = scheduled.buffers, scheduled.assignment.allocations
    offset = np.zeros(len(scheduled.assignment.values.size) + 1, np.int64)
    offset[allocations.values.values] = allocations.offset
    for allocation in np.unique(buffers.allocation[rows]).tolist():
        inside = rows[buffers.allocation[rows] == allocation]
        height[inside] = base + offset[buffers.value[inside]]
        base += int(allocations.size[allocation])
