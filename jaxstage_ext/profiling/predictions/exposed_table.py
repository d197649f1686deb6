"""Exposed collectives as a table."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.profiling.predictions import exposed_wording as wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording
from jaxstage_ext.profiling.predictions.exposed_collectives import ExposedCollective
from jaxstage_ext.report.prediction import Prediction
from jaxstage_ext.report.table import Column, Place, Table


def exposed_table(
    found: Sequence[ExposedCollective], is_shared: bool = False, prediction: Prediction | None = None
) -> Table:
    """One row a collective, that of the most exposed time first; times in seconds of one call.

    `is_shared` says that several of them run at once, `prediction` which instructions have no known time.
    """
    columns = {
        "line": Column([one.line or None for one in found], "", "its source line"),
        "collective": Column([one.op for one in found], "", "its HLO instruction"),
        "exposed": Column([one.exposed for one in found], "s", "of one call, in which nothing is computed"),
        "time": Column([one.seconds for one in found], "s", "of one call, from its start to its end"),
        "iterations": Column(
            [one.iterations for one in found], "", "of the loop that it is in; 1 outside", is_whole=True
        ),
        "independent": Column(
            [one.independent for one in found],
            "s",
            "computation after it, in the same computation, that does not need its result and hides no collective now",
        ),
        "independent line": Column([_line(one) for one in found], "", "the line of most of that"),
        "row": Column([one.row for one in found], "", "row of the HLO document, -1 for none"),
        "independent row": Column([one.independent_row for one in found], "", "row of the HLO document, -1 for none"),
    }
    shared = (wording.SHARED,) if is_shared else ()
    unknown = prediction.unknown if prediction is not None else ()
    left_out = (predicted_timeline_wording.left_out(unknown),) if unknown else ()
    notes = (*shared, wording.INDEPENDENT) if found else (() if unknown else (wording.NONE_HERE,))
    return Table("exposed", columns, _reasons(found), (*notes, *left_out))


def _line(one: ExposedCollective) -> str | None:
    return one.independent_line or (wording.NONE if one.independent == 0 else None)


def _reasons(found: Sequence[ExposedCollective]) -> dict[Place, str]:
    reasons: dict[Place, str] = {}
    for row, one in enumerate(found):
        missing = {
            "line": "" if one.line else wording.NO_LINE,
            "iterations": wording.UNKNOWN_LOOP if one.iterations is None else "",
            "independent": one.why,
            "independent line": "" if _line(one) else one.why or wording.NO_INDEPENDENT_LINE,
        }
        reasons |= {(row, name): why for name, why in missing.items() if why}
    return reasons
