"""Tables of a timeline that is predicted: what a profile does not know, said of a schedule."""

from __future__ import annotations

from dataclasses import replace

from jaxstage_ext.profiling.analysis import table_wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.report.table import Table

_SAID = {
    table_wording.NO_OP: wording.NO_OP,
    table_wording.NO_LINE: wording.NO_LINE,
    table_wording.NO_MODULE: wording.NO_OP,
    table_wording.NO_WORK: wording.NO_WORK,
}


def of_prediction(table: Table) -> Table:
    """The table with reasons and notes that name no profile."""
    reasons = {place: _SAID.get(why, why) for place, why in table.reasons.items()}
    return replace(table, reasons=reasons, notes=tuple(_SAID.get(note, note) for note in table.notes))
