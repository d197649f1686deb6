"""The steps of a recording: the user's own, else the runs of XLA modules."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis import timeline_wording as wording
from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.intervals import overlap, union
from jaxstage_ext.profiling.xplane.module_runs import runs
from jaxstage_ext.report.recording import NONE, SECOND, EventKind, Recording
from jaxstage_ext.report.table import Column, Table


def rows_of(recording: Recording) -> npt.NDArray[np.int64]:
    """The events that are steps, each step once, in the order of time: those of the host where it has any.

    A device repeats them, for the time of their work on it.
    """
    events = recording.events
    rows = np.flatnonzero(events.kind == EventKind.STEP)
    device = np.array([lane.device for lane in recording.lanes], np.int64)[events.lane[rows]]
    if len(rows):
        rows = rows[device == (NONE if (device == NONE).any() else np.min(device))]
    return rows[np.argsort(events.start[rows], kind="stable")]


def table(recording: Recording, work: DeviceWork) -> Table:
    """One row a step, in the order of time: when it is, and how long any device is busy in it."""
    events = recording.events
    rows = rows_of(recording)
    names = [recording.names[name] for name in events.name[rows].tolist()]
    start, end, notes = events.start[rows], events.end[rows], wording.OWN_STEPS
    if not len(rows):
        names, start, end = runs(recording, work)
        notes = wording.NO_STEPS
    busy = union(work.nesting.start, work.nesting.end)
    columns = {
        "step": Column(names, "", "its name"),
        "start": Column(start / SECOND, "s", "since the recording began"),
        "duration": Column((end - start) / SECOND, "s", "from its start to its end"),
        "busy": Column(overlap(start, end, busy) / SECOND, "s", "in which something runs on any device"),
    }
    return Table("steps", columns, notes=(notes,) if notes else ())


def bounds(steps: Table, number: int) -> tuple[float, float]:
    """Start and end in seconds of one row. Raises IndexError, which says how many steps there are."""
    if not -len(steps) <= number < len(steps):
        raise IndexError(f"step {number}: the timeline has {len(steps):,} steps, counted from 0")
    start = float(steps["start"][number])
    return start, start + float(steps["duration"][number])
