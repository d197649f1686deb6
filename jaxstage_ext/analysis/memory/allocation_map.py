"""Where each buffer lies, as heights of a picture: what is held throughout below, above it temporary memory."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.analysis.memory.buffers import Laid
from jaxstage_ext.ir.protowire import Longs


def heights(laid: Laid) -> Longs:
    """Per buffer the height of its lower edge, in bytes, in the picture of its memory.

    Two buffers that live at the same time never overlap; gaps are memory that is reserved and not used.
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
    """Put one allocation of temporary memory upon the other."""
    found, allocations = laid.buffers, laid.assignment.allocations
    offset = np.zeros(len(laid.assignment.values.size) + 1, np.int64)
    offset[allocations.values.values] = allocations.offset
    for allocation in np.unique(found.allocation[rows]).tolist():
        inside = rows[found.allocation[rows] == allocation]
        height[inside] = base + offset[found.value[inside]]
        base += int(allocations.size[allocation])
