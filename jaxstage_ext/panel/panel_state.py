"""What the front end draws first: the summaries. Everything else it asks for."""

from __future__ import annotations

from typing import TypedDict

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.program.summary_form import Summary
from jaxstage_ext.views.summaries import summary_of


class PanelState(TypedDict):
    """The state of a panel; `busy` is whether stages still run."""

    version: int
    calls: list[Summary]
    busy: bool


def state_of(programs: Programs, busy: bool) -> PanelState:
    """The state of a panel over these programs."""
    return {"version": 1, "calls": [summary_of(program) for program in programs], "busy": busy}
