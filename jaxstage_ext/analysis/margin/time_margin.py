"""The measured time of each line beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.analysis.margin import line_values
from jaxstage_ext.analysis.margin.line_values import Lane, Mark
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text.units import plural, scaled
from jaxstage_ext.report.text.units import share as percent

TIME = "time"


def lane(documents: Mapping[str, Document], lines: Table, ops: Table) -> Lane:
    """The shares of source lines and HLO instructions, of the time in which the devices are busy."""
    marks: dict[str, dict[int, Mark]] = {}
    if "python" in documents:
        row_of = line_values.rows_by_line(documents["python"])
        own = [(row_of[row["line"]], row) for row in lines.rows() if row["line"] in row_of]
        marks["python"] = {at: _mark(row) for at, row in own}
    if "hlo" in documents:
        marks["hlo"] = {row["row"]: _mark(row) for row in ops.rows() if row["row"] >= 0}
    return Lane(marks, lines.notes)


def _mark(row: Mapping[str, Any]) -> Mark:
    share = percent(row["share"]) if row["share"] is not None else "?"
    text = [
        f"{share} of the time in which the devices are busy: {scaled(row['busy'], 's')}",
        f"{scaled(row['self'], 's')} in {plural(row['count'], 'event')}; parallel work counts as often as it runs",
    ]
    return Mark(f"{share} {scaled(row['busy'], 's')}", TIME, "\n".join(text))
