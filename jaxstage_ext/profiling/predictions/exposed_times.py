"""How long each collective of a timeline keeps its device waiting, so that all of them add up to the exposed time."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.analysis.device_work import ACTIVITIES, Activity, DeviceWork
from jaxstage_ext.profiling.analysis.intervals import Numbers, Pieces, complement, pieces

_COLLECTIVE = ACTIVITIES.index(Activity.COLLECTIVE)


def exposed_times(work: DeviceWork) -> Numbers:
    """Picoseconds that each event of device work is exposed: for a collective, the time that no computation hides.

    A moment in which several collectives run counts for the one that ends first, for which the device waits then. So
    the times of a device add up to its exposed time.
    """
    exposed = np.zeros(len(work), np.int64)
    for device in range(len(work.devices)):
        found = _outside_compute(work, device)
        if len(found.start):
            np.add.at(exposed, *_shared_out(found, work.nesting.end))
    return exposed


def _outside_compute(work: DeviceWork, device: int) -> Pieces:
    """The parts of a device's collectives during which it computes nothing; they may overlap."""
    parts = work.parts
    own = (work.device[parts.owner] == device) & (work.activity[parts.owner] == _COLLECTIVE)
    owner, start, end = parts.owner[own], parts.start[own], parts.end[own]
    if not len(start):
        return Pieces(owner, start, end)
    free = complement(work.of(device, Activity.COMPUTE), int(np.min(start)), int(np.max(end)))
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
