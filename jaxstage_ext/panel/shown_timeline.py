"""The public Timeline as a value that shows itself: the panel in a notebook, text in a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxstage_ext.panel import display
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.recorded_program import RecordedProgram, timeline
from jaxstage_ext.views.text import panel_text


@dataclass(frozen=True, eq=False, repr=False)
class ShownTimeline(Timeline):
    """What ran when, linked to source lines. In a notebook it shows itself as a panel.

    Attributes:
      program: what was profiled.
    """

    program: Program

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return display.bundle([self.program])

    def __repr__(self) -> str:
        return str(panel_text([self.program]))


def shown(program: Program) -> ShownTimeline:
    """The newest timeline of a program. Raises Unavailable where it was not profiled."""
    known = timeline(program)
    if not isinstance(known, ShownTimeline):
        program.timeline = known = ShownTimeline(known.recording, known.places, program)
    return known


def recorded(known: Timeline) -> ShownTimeline:
    """A timeline of which no program was staged here, such as one from a file."""
    return shown(RecordedProgram(known))
