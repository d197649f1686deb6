"""What the requests about a timeline have in common: which timeline, and which part of it."""

from __future__ import annotations

from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.jobs import JobProgress
from jaxstage_ext.panel.params import BadRequest, Params, Programs, quoted
from jaxstage_ext.profiling.predictions import predicted_timeline_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.predicting.chosen_timeline import TimelineKind, chosen_kind, chosen_timeline, is_known
from jaxstage_ext.report.recording import SECOND
from jaxstage_ext.report.unavailable import Unavailable

Window = tuple[int, int]
_MOST_SECONDS = 9e6
"""So that picoseconds fit into 64 bits."""


def kind_of(params: Params) -> TimelineKind | None:
    """The timeline that a request asks for, by its parameter `of`; None where it leaves that open."""
    if params.get("of") is None:
        return None
    if (name := given.text(params, "of")) not in list(TimelineKind):
        raise BadRequest(f"of must be {' or '.join(TimelineKind)}, not {quoted(name)}")
    return TimelineKind(name)


def timeline_of(programs: Programs, params: Params, progress: JobProgress | None = None) -> Timeline:
    """The timeline of the call that is asked for, measured or predicted; one that is predicted is made with `progress`.

    Raises Unavailable where there is none, and where it is asked for in passing before it is made.
    """
    program, kind = given.program(programs, params), kind_of(params)
    if progress is None and chosen_kind(program, kind) is TimelineKind.PREDICTED and not is_known(program, kind):
        raise Unavailable(predicted_timeline_wording.NEEDS_COMPUTING)
    return chosen_timeline(program, kind, None if progress is None else progress.heard)


def window(params: Params) -> Window | None:
    """The picoseconds of `from` and `to`, which are in seconds; None for all of the recording."""
    if params.get("from") is None and params.get("to") is None:
        return None
    start, end = _picoseconds(params, "from"), _picoseconds(params, "to")
    if start > end:
        raise BadRequest(f"from must not be after to, not {quoted(params['from'])} and {quoted(params['to'])}")
    return start, end


def _picoseconds(params: Params, name: str) -> int:
    value = params.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MOST_SECONDS:
        raise BadRequest(f"{name} must be a number of seconds, not {quoted(value)}")
    return round(value * SECOND)


def seconds(picoseconds: int) -> float:
    """A time as it is sent."""
    return picoseconds / SECOND
