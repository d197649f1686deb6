"""The estimated time of a call in tables of costs: by instruction, and by source line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.predictions.instruction_runs import InstructionRuns, predicted_run
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.prediction import Prediction
from jaxstage_ext.report.table import Column, Table

ESTIMATED = "estimated"
"""The column."""


def estimated_run(predicted: Timeline) -> InstructionRuns:
    """The estimated time of each instruction in one call."""
    return predicted_run(predicted.recording, predicted.places, predicted.work)


def with_estimates(table: Table, times: InstructionRuns, prediction: Prediction, group: str = "instruction") -> Table:
    """The table by "instruction" or "line" with the estimated seconds of one call; unknown where there is none."""
    seconds = _seconds(times, group)
    values = [seconds.get(name or "", math.nan) for name in table[group]]
    column = Column(values, "s", f"{wording.NAMES[prediction.estimator]} of one call; not measured")
    reasons = {(row, ESTIMATED): wording.NO_EVENT for row, value in enumerate(values) if math.isnan(value)}
    return replace(table, columns={**table.columns, ESTIMATED: column}, reasons={**table.reasons, **reasons})


def _seconds(times: InstructionRuns, group: str) -> Mapping[str, float]:
    if group == "instruction":
        return {name: one.seconds for name, one in times.by_name.items()}
    lines: dict[str, float] = {}
    for one in times.by_name.values():
        lines[one.line] = lines.get(one.line, 0.0) + one.seconds
    return lines
