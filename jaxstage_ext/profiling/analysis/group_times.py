"""The time that groups of device work take: operations, kernels, lines, scopes, kinds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.intervals import union_by
from jaxstage_ext.report.recording import NONE

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GroupTimes:
    """One row a group, in picoseconds."""

    group: Numbers
    """Its number; NONE for the work that belongs to none."""
    count: Numbers
    """Events."""
    total: Numbers
    """Their durations added up, with what is inside them."""
    self_time: Numbers
    """The time that they take themselves, added up: parallel work counts as often as it runs."""
    busy: Numbers
    """The time of their devices in which any of them runs itself: parallel work counts once. Of a prediction what they
    make of one call."""

    def __len__(self) -> int:
        return len(self.group)


def group_times(work: DeviceWork, group: npt.NDArray[np.integer]) -> GroupTimes:
    """The times of the groups that device work belongs to, the busiest first."""
    shifted = group.astype(np.int64) - NONE
    size = int(np.max(shifted, initial=-1)) + 1
    duration = work.nesting.end - work.nesting.start
    parent = work.nesting.parent
    is_outermost = (parent == NONE) | (shifted[parent] != shifted)
    count = np.bincount(shifted, minlength=size)
    total = _summed(shifted, duration * is_outermost, size)
    own = _summed(shifted, work.self_time, size)
    busy = _of_call(work, shifted, size)
    rows = np.flatnonzero(count)
    rows = rows[np.lexsort((rows, -own[rows], -busy[rows]))]
    return GroupTimes(rows + NONE, count[rows], total[rows], own[rows], busy[rows])


def _of_call(work: DeviceWork, group: Numbers, size: int) -> Numbers:
    if work.of_call is not None:
        return _summed(group, work.of_call, size)
    return _busy(work, group, size) if work.is_parallel else _summed(group, work.self_time, size)


def _busy(work: DeviceWork, group: Numbers, size: int) -> Numbers:
    parts, devices = work.parts, max(len(work.devices), 1)
    key = group[parts.owner] * devices + work.device[parts.owner]
    merged = union_by(key, parts.start, parts.end)
    return _summed(merged.owner // devices, merged.end - merged.start, size)


def _summed(group: Numbers, values: Numbers, size: int) -> Numbers:
    """The sum of each group; exact, as sums of whole picoseconds in floats are below 2.5 hours."""
    return np.asarray(np.rint(np.bincount(group, values, size)), np.int64)
