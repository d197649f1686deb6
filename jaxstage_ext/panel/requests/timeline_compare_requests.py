"""Two parts of the profiles at hand side by side: steps of one, or the profiles of the calls of a panel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, quoted
from jaxstage_ext.panel.requests.forms import timeline_compare_wording as wording
from jaxstage_ext.panel.requests.forms.timeline_params import timeline_of
from jaxstage_ext.panel.requests.timeline_table_requests import packed
from jaxstage_ext.profiling.predictions import check_wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as predicted_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.questions.predicted import predicted
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text.units import duration, signed

MOST_STEPS = 1000
_BY = {"lines": "line", "ops": "op", "kernels": "kernel", "scopes": "scope", "kinds": "kind"}
_TITLES = {
    "line": "line", "op": "HLO op", "kernel": "kernel", "scope": "scope", "activity": "activity", "category": "opcode",
    "before": "before", "after": "after", "change": "change", "predicted": "predicted", "measured": "measured",
    "missed": "missed", "ratio": "measured / predicted",
}  # fmt: skip


@dataclass(frozen=True)
class TimelinePart:
    """A part that can be compared: a step of this timeline, the whole of this or of another call's, or a prediction."""

    key: str
    title: str
    seconds: float | None


def _get_comparison(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    timeline, by = timeline_of(programs, params, progress), given.text(params, "by")
    if by not in _BY:
        raise BadRequest(f"cannot compare by {quoted(by)}: there is {', '.join(_BY)}")
    progress("listing the steps")
    parts = list(_parts(programs, timeline, given.integer(params, "call", 0, len(programs) - 1)))
    listed = [{"key": part.key, "title": part.title[:200], "seconds": part.seconds} for part in parts]
    empty = {"parts": listed, "columns": []}
    if len(parts) < 2:
        return empty | {"nothing": wording.no_profile() if timeline.is_predicted else wording.one_step()}, []
    before, after = _chosen(params, parts)
    progress("comparing")
    try:
        table = _compared(_timeline(programs, timeline, before), _timeline(programs, timeline, after), _BY[by])
    except ValueError as error:  # their times are different quantities
        return empty | {"before": before, "after": after, "nothing": f"{error}."}, []
    result, buffers = packed(table, _TITLES)
    more = {"parts": listed, "before": before, "after": after, "headline": _headline(table)}
    return result | more | {"nothing": "Nothing ran in either."}, buffers


def _compared(before: Timeline, after: Timeline, by: str) -> Table:
    """The change of two of one sort; of a prediction and what was measured, how far they are apart."""
    if before.is_predicted is after.is_predicted:
        return before.compare(after, by)
    predicted, measured = (before, after) if before.is_predicted else (after, before)
    return predicted.against(measured, by)


def _parts(programs: Programs, timeline: Timeline, call: int) -> Iterator[TimelinePart]:
    """Other calls of the panel that were profiled, and the steps of this one."""
    for number, program in enumerate(programs):
        if program.timeline is not None and (number == call or program.timeline is not timeline):
            title = program.timeline.recording.title
            yield TimelinePart(f"call {number}", f"all of {title}" if number == call else title, None)
        if (known := predicted.known(program)) is not None:
            yield TimelinePart(f"predicted {number}", predicted_wording.part(known.recording), None)
    steps = timeline.steps()
    if timeline.is_predicted or len(steps) < 2:
        return
    for number in range(min(len(steps), MOST_STEPS)):
        name = str(steps["step"][number]) or "step"
        yield TimelinePart(f"step {number}", f"{number}: {name}", float(steps["duration"][number]))


def _chosen(params: Params, parts: list[TimelinePart]) -> tuple[str, str]:
    """The keys of the two; where they are not given, the other call beside this one, else the first and last step."""
    known = [part.key for part in parts]
    steps = [key for key in known if key.startswith("step")]
    calls = [key for key in known if key not in steps]
    usual = (calls[0], calls[1]) if len(calls) > 1 else (steps[0], steps[-1])
    before, after = given.text(params, "before") or usual[0], given.text(params, "after") or usual[1]
    for key in (before, after):
        if key not in known:
            raise BadRequest(f"there is no part {quoted(key)} of this timeline to compare")
    return before, after


def _timeline(programs: Programs, timeline: Timeline, key: str) -> Timeline:
    kind, _, number = key.partition(" ")
    if kind == "step":
        return timeline.step(int(number))
    program = programs[int(number)]
    other = predicted.known(program) if kind == "predicted" else program.timeline
    assert other is not None
    return other


def _headline(table: Table) -> str:
    """`1.2 ms before, 1.5 ms after: +0.3 ms. Most of it: In [2]:7, +0.2 ms`."""
    if "missed" in table.columns:
        return check_wording.headline(table)
    before, after = (sum(value for value in table[name] if value is not None) for name in ("before", "after"))
    sums = f"Self time: {duration(before)} before, {duration(after)} after, {signed(after - before, 's')}"
    first = next(iter(table.rows()), None)
    if first is None or not first["change"]:
        return f"{sums}."
    name = next((str(value) for key, value in reversed(first.items()) if key in _TITLES and isinstance(value, str)), "")
    return f"{sums}. The largest change: {name or 'what has no name'}, {signed(first['change'], 's')}."


METHODS: dict[str, Method] = {"timeline compare": jobs.slow(_get_comparison, of_panel=True)}
