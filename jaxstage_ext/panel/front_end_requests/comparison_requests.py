"""`compare`: the figures of two inspections side by side. `compare_document`: the lines in which they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxstage_ext.ir.document_difference import document_difference
from jaxstage_ext.panel.connection import Connection, FrontEndMethod
from jaxstage_ext.panel.front_end_requests.inspection_requests import cell_label
from jaxstage_ext.panel.front_end_requests.open_requests import inspection_made
from jaxstage_ext.panel.inspection_list import Listed
from jaxstage_ext.panel.params import Answer, BadRequest, Params, integer, quoted, text
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.text.units import rounded, signed

if TYPE_CHECKING:
    from jaxstage_ext.program.comparing.paired_figures import PairedFigure
    from jaxstage_ext.program.program import Program
    from jaxstage_ext.report.figure import Figure

LONGEST_TITLE, LONGEST_TEXT, LONGEST_LINE = 200, 2000, 400
MOST_LINES = 2000
"""Lines of a difference that are sent."""


def _compare(connection: Connection, params: Params) -> Answer:
    from jaxstage_ext.program.comparing.paired_figures import paired_figures  # it imports JAX

    (before, first), (after, second) = _pair(connection, params)
    common = [kind for kind in KINDS if kind in first.documents and kind in second.documents]
    return {
        "before": _side(before, first),
        "after": _side(after, second),
        "rows": [_row(paired) for paired in paired_figures(first, second)],
        "documents": [{"kind": kind, "title": KINDS[kind].title} for kind in common],
    }, []


def _pair(connection: Connection, params: Params) -> tuple[tuple[Listed, Program], tuple[Listed, Program]]:
    before = inspection_made(connection, params)
    after = inspection_made(connection, params, "other", "other_made")
    return (before, _target(before, params, "target")), (after, _target(after, params, "other_target"))


def _target(call: Listed, params: Params, name: str) -> Program:
    return call.programs[integer({name: 0, **params}, name, 0, len(call.programs) - 1)]


def _side(call: Listed, program: Program) -> dict[str, Any]:
    return {
        "title": program.name[:LONGEST_TITLE],
        "label": cell_label(call),
        "targets": [other.label for other in call.programs],
        "target": next(at for at, other in enumerate(call.programs) if other is program),
    }


def _row(paired: PairedFigure) -> dict[str, Any]:
    change, ratio = paired.difference, paired.ratio
    return {
        "group": paired.group,
        "title": paired.title,
        "hint": paired.doc,
        "before": _figure(paired.before, paired.unit),
        "after": _figure(paired.after, paired.unit),
        "same": paired.is_same,
        "difference": None if change is None else _change(change, paired.unit),
        "ratio": None if ratio is None else f"{rounded(ratio)}×",
    }


def _change(change: float, unit: str) -> str:
    return signed(change, unit) if unit else signed(int(change))


def _figure(figure: Figure, unit: str) -> dict[str, Any]:
    is_known, shown = figure.value is not None, figure.shown(unit)[:LONGEST_TEXT]
    return {"text": shown, "known": is_known, "reason": figure.reason, "note": figure.remark}


def _compare_document(connection: Connection, params: Params) -> Answer:
    (_, first), (_, second) = _pair(connection, params)
    kind = text(params, "doc")
    if kind not in KINDS or kind not in first.documents or kind not in second.documents:
        raise BadRequest(f"they have no document {quoted(kind)} in common")
    return difference_reply(first.documents[kind], second.documents[kind]), []


def difference_reply(before: Document, after: Document) -> dict[str, Any]:
    """The lines in which two documents of a kind differ. Raises BadRequest where they are too long to compare."""
    try:
        difference = document_difference(before, after)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    shown = difference.changes()
    cut = [(what, row, other, line[:LONGEST_LINE]) for what, row, other, line in shown[:MOST_LINES]]
    return {"counts": difference.counts, "lines": cut, "left_out": len(shown) - len(cut)}


METHODS: dict[str, FrontEndMethod] = {"compare": _compare, "compare_document": _compare_document}
