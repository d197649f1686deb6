"""The public Timeline as a value that shows itself: the panel in a notebook, text in a terminal."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxstage_ext.panel.showing import display, marimo_display, page
from jaxstage_ext.profiling.analysis import recorded_range
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram, timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.recording import SECOND, Recording
from jaxstage_ext.views import lane_strips
from jaxstage_ext.views.brief.timeline_brief import timeline_brief
from jaxstage_ext.views.lanes_svg import lanes_svg
from jaxstage_ext.views.text import panel_text


@dataclass(frozen=True, eq=False, repr=False)
class ShownTimeline(Timeline):
    """What ran when, linked to source lines. In a notebook it shows itself as a panel.

    Attributes:
      program: what was profiled.
    """

    program: Program

    def to_svg(self, path: str | os.PathLike[str], start: float | None = None, end: float | None = None) -> None:
        """Write a picture of the lanes with labels, of all or from `start` to `end` in seconds.

        Raises OSError where it cannot be written, ValueError where `end` is not after `start`, and Unavailable where
        the events are in cycles of a clock that nobody gave.
        """
        self.check_times()
        first, last = lane_strips.whole(self)
        window = (
            recorded_range.window(first / SECOND if start is None else start, last / SECOND if end is None else end)
            if (start, end) != (None, None)
            else None
        )
        Path(path).expanduser().write_text(lanes_svg(self, window), "utf-8", "replace")

    def to_html(self, path: str | os.PathLike[str], source: bool | None = None) -> None:
        """Write an offline page that shows it, with or without source, None for the default.

        Raises OSError, naming the path, where that cannot be done.
        """
        page.write([self.program], path, source)

    def _repr_llm_(self) -> str:
        """At most 2 kB for language models: what takes the time, by line, and the expressions that give more."""
        return timeline_brief(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return display.mimebundle([self.program])

    def _display_(self) -> Any:
        """What marimo shows: the live panel."""
        return marimo_display.shown([self.program])

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


def opened(recording: Recording) -> ShownTimeline:
    """A recording from a file, which nothing is linked to yet, as a timeline."""
    return recorded(Timeline(recording, without_places(recording)))


Timeline.shown = staticmethod(recorded)
