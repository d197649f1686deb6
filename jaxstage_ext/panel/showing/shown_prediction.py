"""A predicted timeline as a value that shows itself: its lanes and tables in a notebook, text in a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxstage_ext.panel.showing.marimo_display import StillForm
from jaxstage_ext.panel.showing.shown_timeline import ShownTimeline
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.predicting.chosen_timeline import TimelineKind, chosen_timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.views import timeline_forms

_LARGEST = 100_000
"""Bytes of its HTML."""


@dataclass(frozen=True, eq=False, repr=False)
class ShownPrediction(ShownTimeline):
    """What is predicted to run when, linked to source lines. The Timeline tab of its call's panel has it live."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _display_(self) -> StillForm:
        return StillForm(self._html())

    def _html(self) -> str:
        return str(timeline_forms.html_of(self, self.program, _LARGEST))

    def __repr__(self) -> str:
        return Timeline.__str__(self)


def shown(program: Program) -> ShownPrediction:
    """What is predicted of a program. Raises what the fact `predicted` raises."""
    known = chosen_timeline(program, TimelineKind.PREDICTED)
    return program.results.once("shown prediction", lambda: ShownPrediction(known.recording, known.places, program))
