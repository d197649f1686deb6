"""The estimated time of a call in tables of costs: by instruction, and by source line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from jaxstage_ext.profiling.analysis import table_wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.prediction import Prediction
from jaxstage_ext.report.table import Column, Table

ESTIMATED = "estimated"
"""The column."""


def estimated_seconds(predicted: Timeline, group: str) -> Mapping[str, float]:
    """Seconds of one call by "instruction" or "line", "" for none: those of the predicted timeline's tables."""
    name, table = ("op", predicted.by_op()) if group == "instruction" else ("line", predicted.by_line())
    return {one or "": float(seconds) for one, seconds in zip(table[name], table["busy"], strict=True)}


def with_estimates(table: Table, predicted: Timeline, prediction: Prediction, group: str = "instruction") -> Table:
    """The table by "instruction" or "line" with the estimated seconds of one call; unknown where there is none."""
    seconds = estimated_seconds(predicted, group)
    values = [seconds.get(name or "", math.nan) for name in table[group]]
    column = Column(values, "s", f"{wording.NAMES[prediction.estimator]}, {table_wording.OF_CALL}; not measured")
    reasons = {(row, ESTIMATED): wording.NO_EVENT for row, value in enumerate(values) if math.isnan(value)}
    return replace(table, columns={**table.columns, ESTIMATED: column}, reasons={**table.reasons, **reasons})
