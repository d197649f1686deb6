"""How often what a prediction draws once is run in one call: the iterations of the loops around it."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.intervals import Numbers
from jaxstage_ext.report.recording import SECOND, Recording

UNKNOWN = 0
"""In place of a number of iterations that is not known."""
_ROUNDED = 2
"""Picoseconds by which rounding may move an event out of its loop."""


def iterations(recording: Recording, work: DeviceWork) -> Numbers:
    """How often each event of device work runs in one call; UNKNOWN where a loop around it is of unknown length.

    What was recorded runs as often as it is there.
    """
    often = np.ones(len(work), np.int64)
    if recording.prediction is None:
        return often
    start, end = work.nesting.start, work.nesting.end
    for loop in recording.prediction.loops:
        first, last = round(loop.start * SECOND) - _ROUNDED, round(loop.end * SECOND) + _ROUNDED
        often[(start >= first) & (end <= last) & (loop.end > loop.start)] *= loop.count or UNKNOWN
    return often
