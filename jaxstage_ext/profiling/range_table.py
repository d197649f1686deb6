"""Time by named range: those that kernels recorded on the device, and those that the user named."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.nesting import nest
from jaxstage_ext.report.recording import SECOND, EventKind, LaneKind, Recording, TimeUnit
from jaxstage_ext.report.table import Column, Table


def by_range(recording: Recording) -> Table:
    """One row a name of ranges, on the device and on the host apart, that of the most time of its own first.

    Times of parallel warpgroups are summed: a sum is not how long the kernel ran.
    """
    events = recording.events
    rows = np.flatnonzero(events.kind == EventKind.RANGE)
    nesting = nest(events.lane[rows], events.start[rows], events.end[rows])
    on_device = np.array([lane.kind is LaneKind.ON_DEVICE for lane in recording.lanes], bool)[events.lane[rows]]
    keys, group = np.unique(events.name[rows].astype(np.int64) * 2 + ~on_device, return_inverse=True)
    own = _sums(group, nesting.self_time, len(keys))
    order = np.argsort(-own, kind="stable")
    total, lanes = _sums(group, events.duration[rows], len(keys)), _lanes(group, events.lane[rows], len(keys))
    cycles = recording.unit is TimeUnit.CYCLE
    unit, scale = ("cycles", 1) if cycles else ("s", SECOND)
    columns = {
        "range": Column([recording.names[key // 2] for key in keys[order].tolist()], "", "its name"),
        "where": Column(["host" if key % 2 else "device" for key in keys[order].tolist()], "", "who recorded it"),
        "count": Column(np.bincount(group, minlength=len(keys))[order], "", "how often it was entered"),
        "lanes": Column(lanes[order], "", "warps, warpgroups or threads that entered it"),
        "total": Column(total[order] / scale, unit, "with what is inside it, summed over lanes"),
        "self": Column(own[order] / scale, unit, "without the ranges inside it, summed over lanes"),
    }
    return Table("ranges", columns)


def _sums(group: npt.NDArray[np.intp], values: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    total = np.zeros(size, np.int64)
    np.add.at(total, group, values)
    return total


def _lanes(group: npt.NDArray[np.intp], lane: npt.NDArray[np.int32], size: int) -> npt.NDArray[np.int64]:
    pairs = np.unique(np.stack([group.astype(np.int64), lane.astype(np.int64)]), axis=1)
    return np.bincount(pairs[0], minlength=size)
