"""How long each collective of a timeline keeps its device waiting, so that all of them add up to the exposed time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxstage_ext.profiling.analysis.device_work import ACTIVITIES, NOTHING, Activity, DeviceWork
from jaxstage_ext.profiling.analysis.intervals import Intervals, Numbers, Pieces, complement, pieces, union
from jaxstage_ext.profiling.predictions.drawn_loops import iterations
from jaxstage_ext.report.recording import Recording

Needs = Sequence[tuple[Activity, Sequence[Activity]]]
_EXPOSED: Needs = ((Activity.COLLECTIVE, (Activity.COMPUTE,)),)
_WAITING: Needs = (
    *_EXPOSED,
    (Activity.COPY, (Activity.COMPUTE, Activity.COLLECTIVE)),
    (Activity.CONTROL, (Activity.COMPUTE, Activity.COLLECTIVE, Activity.COPY)),
)
"""A sort of work, and what hides it."""


def exposed_times(work: DeviceWork) -> Numbers:
    """Picoseconds that each event of device work is exposed: for a collective, the time that no computation hides,
    without that in which the device begins or ends other asynchronous work.

    A moment in which several collectives run counts for the one that ends first, for which the device waits then. So
    the times of a device add up to its exposed time.
    """
    return _unhidden(work, _EXPOSED, work.between)


def call_times(recording: Recording, work: DeviceWork) -> Numbers:
    """Picoseconds of one predicted call that each event of device work makes, loops as often as they run.

    Computation counts whole, a collective where no computation hides it, a copy where neither does, what else
    runs beside and the loops around it where nothing does: all of them add up to the call. A loop of unknown length
    counts once.
    """
    hidden_apart = np.isin(work.activity, [ACTIVITIES.index(activity) for activity, _ in _WAITING])
    own = np.where(hidden_apart, _unhidden(work, _WAITING), work.self_time)
    return np.asarray(own * np.maximum(iterations(recording, work), 1), np.int64)


def _unhidden(work: DeviceWork, needs: Needs, between: Intervals = NOTHING) -> Numbers:
    exposed = np.zeros(len(work), np.int64)
    for device in range(len(work.devices)):
        for activity, hiding in needs:
            found = _outside(work, device, activity, [*(work.of(device, one) for one in hiding), between])
            if len(found.start):
                np.add.at(exposed, *_shared_out(found, work.nesting.end))
    return exposed


def _outside(work: DeviceWork, device: int, activity: Activity, covers: Sequence[Intervals]) -> Pieces:
    """The parts of one sort of a device's work outside of what hides it; they may overlap."""
    parts = work.parts
    own = (work.device[parts.owner] == device) & (work.activity[parts.owner] == ACTIVITIES.index(activity))
    owner, start, end = parts.owner[own], parts.start[own], parts.end[own]
    if not len(start):
        return Pieces(owner, start, end)
    taken = union(np.concatenate([one.start for one in covers]), np.concatenate([one.end for one in covers]))
    free = complement(taken, int(np.min(start)), int(np.max(end)))
    cut = pieces(start, end, free)
    return Pieces(owner[cut.owner], cut.start, cut.end)


def _shared_out(parts: Pieces, ends: Numbers) -> tuple[Numbers, Numbers]:
    """(the event that each stretch of time counts for, its length)."""
    bounds = np.unique(np.concatenate([parts.start, parts.end]))
    first, last = np.searchsorted(bounds, parts.start), np.searchsorted(bounds, parts.end)
    event = np.full(len(bounds) - 1, -1, np.int64)
    for part in np.argsort(-ends[parts.owner], kind="stable").tolist():
        event[first[part] : last[part]] = parts.owner[part]
    covered = event >= 0
    return event[covered], np.diff(bounds)[covered]
