"""What a profile measured of each instruction of a program's optimised module."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.analysis.group_times import GroupTimes, group_times
from jaxstage_ext.profiling.analysis.intervals import union_by
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.running import measured_wording as wording
from jaxstage_ext.report.recording import SECOND

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measured:
    """The measured times of a module, per run on one device."""

    seconds: Floats
    """Of each instruction, the time in which it runs itself; NaN unknown."""
    share: Floats
    """Of each instruction, of the time in which the devices are busy in the whole profile; NaN unknown."""
    busy: float
    """Seconds in which the device is busy with the module in one run; NaN unknown."""
    runs: int
    """How many runs were recorded, those on several devices each; 0 unknown."""
    why: str
    """Why a time is unknown, "" where every run was seen."""


def measured(program: Program) -> Measured | None:
    """What the newest profile measured of the program; None where it was not profiled, or is not compiled."""
    timeline = program.timeline
    if timeline is None or not program.has_hlo:
        return None
    return program.results.once((measured, timeline), lambda: _read(program, timeline))


def _read(program: Program, timeline: Timeline) -> Measured:
    recording, work = timeline.recording, timeline.work
    if timeline.unrecorded:
        nothing = np.full(len(program.module.names), np.nan)
        return Measured(nothing, nothing, float("nan"), 0, timeline_wording.without_event(timeline.unrecorded))
    size = len(program.module.names)
    op = recording.events.op[work.event]
    own = np.append(_is_own(program, timeline), False)[op]
    instruction = _instructions(program, recording.ops.name)
    times = group_times(work, np.where(own, op, -1))
    row = np.append(instruction, -1)[times.group]
    kept = (times.group >= 0) & (row >= 0)
    runs = _runs(timeline, own)
    seconds, share = np.full(size, np.nan), np.full(size, np.nan)
    busy = _summed(times, row, kept, size)
    ran = busy >= 0
    share[ran] = busy[ran] / work.busy_time if work.busy_time else np.nan
    seconds[ran] = busy[ran] / SECOND / runs if runs else np.nan
    together = _together(timeline, own) / SECOND
    why = "" if runs and ran.any() else wording.NO_RUNS if ran.any() else wording.NOT_SEEN
    return Measured(seconds, share, together / runs if runs and ran.any() else float("nan"), runs, why)


def _summed(times: GroupTimes, row: Numbers, kept: npt.NDArray[np.bool_], size: int) -> Numbers:
    """Picoseconds of each instruction; -1 where none of its events was recorded."""
    busy = np.full(size, -1, np.int64)
    busy[row[kept]] = 0
    np.add.at(busy, row[kept], times.busy[kept])
    return busy


def _is_own(program: Program, timeline: Timeline) -> npt.NDArray[np.bool_]:
    """Which ops of the recording are of the program's own module: those that stand in its HLO document."""
    ops = timeline.recording.ops
    modules = np.unique(ops.module[timeline.places.row >= 0])
    if not len(modules):
        name = program.module.header.name
        modules = np.array([i for i, module in enumerate(timeline.recording.modules) if module.name == name], np.int64)
    return np.isin(ops.module, modules[modules >= 0])


def _instructions(program: Program, names: tuple[str, ...]) -> Numbers:
    """The row in the module of each op, by its name; -1 for none."""
    rows = {name: row for row, name in enumerate(program.module.names)}
    return np.array([rows.get(name.encode("utf-8", "replace"), -1) for name in names], np.int64)


def _runs(timeline: Timeline, own: npt.NDArray[np.bool_]) -> int:
    """How many runs on a device the events are of."""
    run = timeline.recording.events.run[timeline.work.event][own].astype(np.int64)
    pairs = np.unique(run[run >= 0] * len(timeline.work.devices) + timeline.work.device[own][run >= 0])
    return len(pairs)


def _together(timeline: Timeline, own: npt.NDArray[np.bool_]) -> int:
    work = timeline.work
    covered = union_by(work.device[own], work.nesting.start[own], work.nesting.end[own])
    return int((covered.end - covered.start).sum())
