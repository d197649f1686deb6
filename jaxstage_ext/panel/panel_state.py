"""What the front end draws first: the summaries. Everything else it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.program.head.summary_form import Summary
from jaxstage_ext.report import measuring
from jaxstage_ext.report.text.encodable import encodable_json
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views import computed_facts
from jaxstage_ext.views.summaries import summary_of

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program


FINDINGS = "findings"
_LESS_THAN_FINDINGS = ("", "memory")
"""The tabs that open first only where nothing was found: the code, and what took too much memory."""


class PanelState(TypedDict):
    """The state of a panel.

    `busy` is whether stages still run. `run` names the run of the cell: where it changes, nothing of former replies
    holds any more.
    """

    version: int
    calls: list[Summary]
    busy: bool
    run: str


def state_of(programs: Programs, busy: bool, run: str = "") -> PanelState:
    """The state of a panel over these programs."""
    with measuring.left_alone():
        calls = [encodable_json(_summary(program)) for program in programs]
    return {"version": 1, "calls": calls, "busy": busy, "run": run}


def _summary(program: Program) -> Summary:
    """The summary of a program, and in a sentence the finding with the most to gain; where that fails, why."""
    parts = Parts()
    summary = parts.get("The program", lambda: summary_of(program), None)
    if summary is None:
        return _without_parts(parts.failures)
    return with_finding(summary, program)


def with_finding(summary: Summary, program: Program) -> Summary:
    """A summary with the finding that heads it, whose tab opens first; without one what was not looked for yet."""
    if program.saved_summary is not None or FINDINGS not in summary["views"]:
        return summary
    best = computed_facts.best_finding(program)
    is_opened = best and summary["open"] in _LESS_THAN_FINDINGS
    return {
        **summary,
        "finding": best or computed_facts.nothing_found(program),
        "open": FINDINGS if is_opened else summary["open"],
    }


def _without_parts(notes: list[str]) -> Summary:
    return {
        "version": 1,
        "name": "",
        "signature": "",
        "target": "",
        "options": {},
        "stages": [],
        "facts": [],
        "coverage": None,
        "documents": [],
        "error": None,
        "notes": notes,
        "meshes": [],
        "views": ["code"],
        "open": "",
        "worker": False,
        "compare": None,
        "finding": "",
    }
