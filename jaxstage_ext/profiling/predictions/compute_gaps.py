"""The longest times of a predicted timeline in which a device computes nothing, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from jaxstage_ext.profiling.analysis.busy import DeviceTime
from jaxstage_ext.profiling.analysis.device_work import ACTIVITIES, Activity, DeviceWork
from jaxstage_ext.profiling.analysis.intervals import Intervals, complement
from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.predictions import exposed_wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.predictions.exposed_collectives import ExposedCollective
from jaxstage_ext.report.recording import NONE, SECOND, Recording
from jaxstage_ext.report.table import Column, Table

_COMPUTE = ACTIVITIES.index(Activity.COMPUTE)
_LEAST = 10**6
"""Picoseconds up to which a gap is what XLA counts for beginning or ending asynchronous work."""


class ComputeGap(NamedTuple):
    """A time without computation, in picoseconds; `event` of the device work ends it, NONE where nothing runs."""

    device: str
    start: int
    duration: int
    event: int


def table(recording: Recording, places: OpPlaces, work: DeviceWork, times: Sequence[DeviceTime], most: int) -> Table:
    """One row a gap, the longest first."""
    gaps = _longest(work, times, most)
    lines, labels = line_labels(places)
    op = np.append(recording.events.op[work.event], NONE)[[gap.event for gap in gaps]].tolist() if gaps else []
    line = [int(lines[one]) if one >= 0 else NONE for one in op]
    names = [_name(recording, work, gap.event, one) for gap, one in zip(gaps, op, strict=True)]
    columns = {
        "device": Column([gap.device for gap in gaps]),
        "start": Column(np.array([gap.start for gap in gaps], float) / SECOND, "s", "since the call began"),
        "duration": Column(np.array([gap.duration for gap in gaps], float) / SECOND, "s", "without computation"),
        "waits for": Column(names, "", "the collective, copy or other asynchronous work that runs for most of it"),
        "line": Column([labels[one] if one >= 0 else None for one in line], "", "its source line"),
        "row": Column([int(places.row[one]) if one >= 0 else NONE for one in op], "", "row of the HLO document"),
    }
    reasons = {(row, "line"): wording.NO_LINE for row, one in enumerate(line) if one < 0}
    reasons |= {(row, "waits for"): wording.NOTHING_RUNS for row, name in enumerate(names) if name is None}
    return Table("gaps", columns, reasons, () if gaps else (wording.NO_GAPS,))


def with_what_could_hide(gaps: Table, found: Sequence[ExposedCollective]) -> Table:
    """The gaps with the work after the collective that each waits for which does not need its result, and its line.

    Seconds are of one iteration where a loop is drawn once, as the gaps are.
    """
    of = {one.op: one for one in reversed(found)}
    awaited = [of.get(str(name)) for name in gaps["waits for"]]
    seconds = [_of_one_iteration(one) for one in awaited]
    lines = [(one.independent_line or None) if one is not None else None for one in awaited]
    columns = {
        "could hide": Column(seconds, "s", "work after the collective that neither needs it nor hides one"),
        "at": Column(lines, "", "the line of most of that"),
    }
    reasons = dict(gaps.reasons)
    for row, (one, time) in enumerate(zip(awaited, seconds, strict=True)):
        why = exposed_wording.NOT_A_COLLECTIVE if one is None else one.why
        reasons |= {(row, "could hide"): why} if time is None else {}
        reasons |= {(row, "at"): why or exposed_wording.NO_WORK_LINE} if lines[row] is None else {}
    return replace(gaps, columns={**gaps.columns, **columns}, reasons=reasons)


def _of_one_iteration(one: ExposedCollective | None) -> float | None:
    return None if one is None or one.independent is None else one.independent / (one.iterations or 1)


def _longest(work: DeviceWork, times: Sequence[DeviceTime], most: int) -> list[ComputeGap]:
    found = [
        ComputeGap(time.device.title, start, end - start, _awaited(work, number, start, end))
        for number, time in enumerate(times)
        for start, end in _spans(complement(time.compute, *time.window))
        if end - start > _LEAST
    ]
    return sorted(found, key=lambda gap: (-gap.duration, gap.start))[:most]


def _spans(free: Intervals) -> list[tuple[int, int]]:
    return list(zip(free.start.tolist(), free.end.tolist(), strict=True))


def _awaited(work: DeviceWork, device: int, start: int, end: int) -> int:
    """The asynchronous work that runs for most of a gap, loops around it aside; NONE where none runs."""
    runs = (work.device == device) & (work.activity != _COMPUTE)
    runs[work.nesting.parent[work.nesting.parent != NONE]] = False
    rows = np.flatnonzero(runs & (work.nesting.start < end) & (work.nesting.end > start))
    inside = np.minimum(work.nesting.end[rows], end) - np.maximum(work.nesting.start[rows], start)
    return int(rows[np.argmax(inside)]) if len(rows) else NONE


def _name(recording: Recording, work: DeviceWork, event: int, op: int) -> str | None:
    if event == NONE:
        return None
    return recording.ops.name[op] if op >= 0 else recording.names[recording.events.name[work.event[event]]]
