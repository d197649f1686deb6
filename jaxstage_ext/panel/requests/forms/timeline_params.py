"""What the requests about a timeline have in common: which timeline, and which part of it."""

from __future__ import annotations

from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import BadRequest, Params, Programs, quoted
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import timeline
from jaxstage_ext.report.recording import SECOND

Window = tuple[int, int]
_MOST_SECONDS = 9e6
"""So that picoseconds fit into 64 bits."""


def timeline_of(programs: Programs, params: Params) -> Timeline:
    """The timeline of the call. Raises Unavailable where it was not profiled."""
    return timeline(given.program(programs, params))


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
