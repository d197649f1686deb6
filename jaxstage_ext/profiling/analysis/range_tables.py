"""The time inside ranges: those that a kernel recorded on the device, and those that the user named."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis import table_wording as wording
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.analysis.nesting import nest
from jaxstage_ext.report.recording import NONE, SECOND, EventKind, LaneKind, Recording, TimeUnit
from jaxstage_ext.report.table import Column, Table


def by_range(recording: Recording) -> Table:
    """One row a name, that of the most self time first. Ranges of warps or warpgroups count as often as they run."""
    events = recording.events
    rows = _once(recording, np.flatnonzero(events.kind == EventKind.RANGE))
    nesting = nest(events.lane[rows], events.start[rows], events.end[rows])
    names, number = np.unique(events.name[rows], return_inverse=True)
    number = number.reshape(-1)
    counts = np.bincount(number, minlength=len(names))
    own = np.bincount(number, nesting.self_time, len(names))
    total = np.bincount(number, events.duration[rows], len(names))
    lanes = np.unique(np.stack([number, events.lane[rows]]), axis=1)[0]
    order = np.argsort(-own, kind="stable")
    is_time = recording.unit is TimeUnit.PICOSECOND
    scale, unit = (SECOND, "s") if is_time else (1, "cycles")
    whole = own.sum()
    columns = {
        "range": Column([recording.names[name] for name in names[order].tolist()], "", "its name"),
        "share": Column((own / whole if whole else np.full(len(names), np.nan))[order], "", "of the self time of all"),
        "self": Column((own / scale)[order], unit, "without the ranges inside it, added up over lanes"),
        "total": Column((total / scale)[order], unit, "with the ranges inside it, added up over lanes"),
        "count": Column(counts[order], "", "ranges", is_whole=True),
        "lanes": Column(np.bincount(lanes, minlength=len(names))[order], "", "warps, warpgroups or threads"),
    }
    reasons = {(row, "share"): wording.NO_TIME for row in range(len(names) if not whole else 0)}
    notes = () if len(names) else (wording.NO_RANGES,)
    return Table("ranges", columns, reasons, (*notes, *timeline_wording.losses(recording.lost)))


def _once(recording: Recording, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The ranges without those by which a device repeats what the host names, for the time of its work on it."""
    lanes = recording.events.lane[rows]
    on_host = np.array([lane.device == NONE for lane in recording.lanes], bool)[lanes]
    repeats = np.array([lane.kind is LaneKind.STEPS and lane.device != NONE for lane in recording.lanes], bool)[lanes]
    named = np.isin(recording.events.name[rows], recording.events.name[rows[on_host]])
    return rows[~(repeats & named)]


def recorders(recording: Recording) -> int:
    """How many warps or warpgroups recorded ranges on the device."""
    on_device = np.array([lane.kind is LaneKind.ON_DEVICE for lane in recording.lanes], bool)
    used = np.unique(recording.events.lane)
    return int(on_device[used].sum()) if len(used) else 0
