"""How much of a predicted call each line makes: its computation, and the collectives of it that nothing hides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jaxstage_ext.profiling.analysis.device_work import ACTIVITIES, Activity, DeviceWork
from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.predictions.call_line import CallLine
from jaxstage_ext.profiling.predictions.drawn_loops import iterations
from jaxstage_ext.profiling.predictions.exposed_times import exposed_times
from jaxstage_ext.profiling.predictions.instruction_runs import InstructionRuns
from jaxstage_ext.report.recording import NONE, SECOND, Recording
from jaxstage_ext.report.table import Column, Table

CALL = "call"
"""The column of seconds of a call, loops as often as they run."""


def longest_line(recording: Recording, places: OpPlaces, work: DeviceWork) -> CallLine | None:
    """The line that makes most of a call, loops as often as they run; None where no line is known.

    A loop of unknown length counts once.
    """
    compute = work.activity == ACTIVITIES.index(Activity.COMPUTE)
    seconds = np.where(compute, work.self_time, exposed_times(work)) * np.maximum(iterations(recording, work), 1)
    lines, labels = line_labels(places)
    line = np.append(lines, NONE)[recording.events.op[work.event]]
    known = line >= 0
    if not known.any():
        return None
    total = np.bincount(line[known], seconds[known])
    most = int(np.argmax(total))
    return CallLine(labels[most], float(total[most]) / SECOND)


def with_calls(table: Table, times: InstructionRuns, by: str) -> Table:
    """A table by "op" or "line" with the seconds of a call, by which it is sorted."""
    named = table["op" if by == "op" else "line"]
    seconds: dict[str, float] = {}
    for name, one in times.by_name.items():
        key = name if by == "op" else one.line
        seconds[key] = seconds.get(key, 0.0) + one.seconds
    values = [seconds.get(str(name) if name is not None else "") for name in named]
    column = Column(values, "s", "of a call, loops as often as they run; the others are of what is drawn")
    reasons = {(row, CALL): wording.NO_OP for row, value in enumerate(values) if value is None}
    made = replace(table, columns={**table.columns, CALL: column}, reasons={**table.reasons, **reasons})
    order = sorted(range(len(values)), key=lambda row: -(values[row] or 0.0))
    return made.take(order)
