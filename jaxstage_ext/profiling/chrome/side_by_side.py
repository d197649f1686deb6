"""Layers of a lane: events that overlap without nesting stand in different ones, as formats with stacks need it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.nesting import nest
from jaxstage_ext.report.recording import Events

Layers = npt.NDArray[np.int64]


def layers(events: Events) -> Layers:
    """The layer of each event in its lane, 0 for the first; within a layer of a lane, events nest."""
    layer = np.zeros(len(events), np.int64)
    crossing = nest(events.lane, events.start, events.end).crosses
    for lane in np.unique(events.lane[crossing]).tolist():
        rows = np.arange(*np.searchsorted(events.lane, (lane, lane + 1)))
        layer[rows] = _stacked(events.start[rows].tolist(), events.end[rows].tolist())
    return layer


def _stacked(starts: list[int], ends: list[int]) -> list[int]:
    """Put each into the first layer where what is still open encloses it."""
    stacks: list[list[int]] = []
    chosen = []
    for start, end in zip(starts, ends, strict=True):
        number = next((n for n, stack in enumerate(stacks) if _encloses(stack, start, end)), len(stacks))
        if number == len(stacks):
            stacks.append([])
        stacks[number].append(end)
        chosen.append(number)
    return chosen


def _encloses(stack: list[int], start: int, end: int) -> bool:
    """Whether the innermost of what is still open at `start` goes on until `end`; what has ended is closed."""
    while stack and stack[-1] <= start:
        stack.pop()
    return not stack or stack[-1] >= end
