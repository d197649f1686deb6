"""The position of each buffer in a picture of memory: what is held throughout at the bottom, temporaries above."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.analysis.memory.buffers import Laid
from jaxstage_ext.ir.protowire import Longs


def heights(laid: Laid) -> Longs:
    """Per buffer, the height of its lower edge in bytes.

    Buffers that are live at the same time never overlap; gaps are memory that is reserved but unused.
    """
    found = laid.buffers
    height = np.zeros(len(found), np.int64)
    for color in np.unique(laid.assignment.allocations.color).tolist():
        mine = np.flatnonzero(found.space == color)
        temporary = laid.assignment.allocations.temporary[found.allocation[mine]]
        held = mine[~temporary]
        held = held[np.lexsort((-found.size[held], found.kind[held]))]
        top = np.cumsum(found.size[held])
        height[held] = top - found.size[held]
        _stack(laid, mine[temporary], int(top[-1]) if len(top) else 0, height)
    return height


def _stack(laid: Laid, rows: Longs, base: int, height: Longs) -> None:
    """Stack the allocations of temporary memory."""
    found, allocations = laid.buffers, laid.assignment.allocations
    offset = np.zeros(len(laid.assignment.values.size) + 1, np.int64)
    offset[allocations.values.values] = allocations.offset
    for allocation in np.unique(found.allocation[rows]).tolist():
        inside = rows[found.allocation[rows] == allocation]
        height[inside] = base + offset[found.value[inside]]
        base += int(allocations.size[allocation])
