"""The measured columns of a table of costs: time per run, achieved FLOP/s and bytes/s, and the share of the roof."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.program.running import measured_wording as wording
from jaxstage_ext.program.running.measured import Measured
from jaxstage_ext.report.table import Column, Table

Floats = npt.NDArray[np.float64]


def of_roof(seconds: Floats, roof: Roofline) -> Floats:
    """The lower bound of each instruction's time over the measured one, by instruction; NaN unknown."""
    least = np.full(len(seconds), np.nan)
    least[roof.rows] = roof.seconds
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((seconds > 0) & (least > 0), least / seconds, np.nan)


def rates(work: Cost, seconds: Floats) -> tuple[Floats, Floats]:
    """FLOP/s and bytes/s that each instruction achieves, by instruction; NaN unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        flops = np.where(seconds > 0, work.total(work.flops + work.transcendentals) / seconds, np.nan)
        moved = np.where(seconds > 0, work.total(work.moved) / seconds, np.nan)
    return flops, moved


def with_measured(table: Table, work: Cost, roof: Roofline, times: Measured) -> Table:
    """A table of instructions with what was measured of them."""
    number = {name: row for row, name in enumerate(work.ops.names)}
    rows = np.array([number[name.encode()] for name in table["instruction"]], np.int64)
    seconds = times.seconds[rows]
    flops, moved = (column[rows] for column in rates(work, times.seconds))
    roofs = of_roof(times.seconds, roof)[rows]
    added = {
        "time": Column(seconds, "s", "measured: device time of one run of the module"),
        "FLOP/s": Column(flops, "FLOP/s", "achieved"),
        "bytes/s": Column(moved, "B/s", "achieved"),
        "of roof": Column(roofs, "", "the least time that the device can take for it, over the measured one"),
    }
    reasons = dict(table.reasons)
    for row in range(len(rows)):
        if np.isnan(seconds[row]):
            reasons |= {(row, name): times.why or wording.NO_EVENT for name in added}
            continue
        known = (flops, wording.NO_FLOPS), (moved, wording.NO_BYTES), (roofs, wording.NO_ROOF)
        for name, (values, why) in zip(("FLOP/s", "bytes/s", "of roof"), known, strict=True):
            if np.isnan(values[row]):
                reasons[row, name] = why
    notes = (*table.notes, wording.runs(times.runs)) if times.runs else table.notes
    return replace(table, columns={**table.columns, **added}, reasons=reasons, notes=notes)
