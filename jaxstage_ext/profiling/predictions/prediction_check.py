"""A prediction beside what a profile measured, by instruction or by source line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jaxstage_ext.profiling.predictions import check_wording as wording
from jaxstage_ext.profiling.predictions.instruction_runs import InstructionRun, InstructionRuns
from jaxstage_ext.report.recording import NONE
from jaxstage_ext.report.table import Column, Place, Table

GROUPS = ("op", "line")


class CheckedTime(NamedTuple):
    """What was predicted and what was measured of one instruction or line, in seconds of one run; None for neither."""

    name: str
    line: str
    predicted: float | None
    measured: float | None
    row: int
    runs: int | None

    @property
    def missed(self) -> float:
        """How much longer it took than was predicted."""
        return (self.measured or 0.0) - (self.predicted or 0.0)


def check(by: str) -> None:
    """Raises ValueError for a group that a prediction is not compared by."""
    if by not in GROUPS:
        raise ValueError(wording.unknown_group(by, GROUPS))


def prediction_check(predicted: InstructionRuns, measured: InstructionRuns, idle: float, by: str) -> Table:
    """One row an instruction or line, that of the most missed time first.

    `idle` is how long the device has nothing to run in one run of the profile, in seconds.
    """
    rows = _by_op(predicted.by_name, measured.by_name)
    rows = _by_line(rows) if by == "line" else rows
    rows.sort(key=lambda one: (-abs(one.missed), one.name))
    named = {"line": Column([one.line or None for one in rows], "", "its source line")}
    if by == "op":
        named = {"op": Column([one.name for one in rows], "", "HLO instruction"), **named}
    columns = {
        **named,
        "predicted": Column([one.predicted for one in rows], "s", "of one call"),
        "measured": Column([one.measured for one in rows], "s", "of one run on one device"),
        "missed": Column([one.missed for one in rows], "s", "how much longer it took than was predicted"),
        "ratio": Column([_ratio(one) for one in rows], "", "measured over predicted"),
        **(
            {"runs": Column([one.runs for one in rows], "", "in which it was seen", is_whole=True)}
            if by == "op"
            else {}
        ),
        "row": Column([one.row for one in rows], "", "row of the HLO document, -1 for none"),
    }
    return Table("against", columns, _reasons(rows, by), tuple(wording.notes(predicted, measured, idle)))


def _by_op(predicted: Mapping[str, InstructionRun], measured: Mapping[str, InstructionRun]) -> list[CheckedTime]:
    found = []
    for name in {**predicted, **measured}:
        one, other = predicted.get(name), measured.get(name)
        known = [each for each in (one, other) if each is not None]
        line = next((each.line for each in known if each.line), "")
        row = next((each.row for each in known if each.row >= 0), NONE)
        predicts, took = (each.seconds if each is not None else None for each in (one, other))
        found.append(CheckedTime(name, line, predicts, took, row, other.runs if other is not None else None))
    return found


def _by_line(rows: Sequence[CheckedTime]) -> list[CheckedTime]:
    """The sums of each line, what has no line together."""
    lines: dict[str, list[CheckedTime]] = {}
    for row in rows:
        lines.setdefault(row.line, []).append(row)
    return [
        CheckedTime(line, line, _sum([r.predicted for r in of]), _sum([r.measured for r in of]), _first_row(of), None)
        for line, of in lines.items()
    ]


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _first_row(rows: Sequence[CheckedTime]) -> int:
    return min((row.row for row in rows if row.row >= 0), default=NONE)


def _ratio(one: CheckedTime) -> float | None:
    return one.measured / one.predicted if one.predicted and one.measured is not None else None


def _reasons(rows: Sequence[CheckedTime], by: str) -> dict[Place, str]:
    reasons: dict[Place, str] = {}
    for at, one in enumerate(rows):
        missing = {
            "line": "" if one.line else wording.NO_LINE,
            "predicted": wording.NOT_PREDICTED if one.predicted is None else "",
            "measured": wording.NOT_MEASURED if one.measured is None else "",
            "ratio": wording.NO_RATIO if _ratio(one) is None else "",
            "runs": wording.NOT_MEASURED if one.runs is None and by == "op" else "",
        }
        reasons |= {(at, name): why for name, why in missing.items() if why}
    return reasons
