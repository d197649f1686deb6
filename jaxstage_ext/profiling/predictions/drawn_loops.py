"""How often what a prediction draws once is run in one call: the iterations of the loops around it."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.intervals import Numbers
from jaxstage_ext.report.recording import Recording

UNKNOWN = 0
"""In place of a number of iterations that is not known."""


def iterations(recording: Recording, work: DeviceWork) -> Numbers:
    """How often each event of device work runs in one call; UNKNOWN where a loop around it is of unknown length.

    What was recorded runs as often as it is there.
    """
    often = np.ones(len(work), np.int64)
    if recording.prediction is None:
        return often
    start, end = work.nesting.start, work.nesting.end
    names = _names(recording, work)
    for loop in recording.prediction.loops:
        for event in np.flatnonzero(names == loop.name).tolist():
            inside = (start >= start[event]) & (end <= end[event]) & (work.device == work.device[event])
            inside[event] = False
            often[inside] *= loop.count or UNKNOWN
    return often


def _names(recording: Recording, work: DeviceWork) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    op = recording.events.op[work.event]
    by_op = np.array([*recording.ops.name, ""], object)
    by_event = np.array([*recording.names, ""], object)
    return np.where(op >= 0, by_op[op], by_event[recording.events.name[work.event]])
