"""The tables of the timeline tab: of the whole timeline or of a range of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, quoted
from jaxstage_ext.panel.requests.forms.timeline_params import timeline_of, window
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.running.timeline_rates import with_rates
from jaxstage_ext.program.source.line_texts import line_texts
from jaxstage_ext.report.recording import SECOND
from jaxstage_ext.report.table import Column, Table, plain

MOST_ROWS = 20_000
"""Rows that are sent; the rest are smaller."""
LONGEST_TEXT = 500
_TIMES = {"share": "share", "busy": "busy", "self": "self", "total": "total", "count": "count"}
_RATES = {"FLOP/s": "FLOP/s", "bytes/s": "bytes/s", "of roof": "of roof"}


@dataclass(frozen=True)
class TableForm:
    """A table of the tab: how it is read, the titles of its columns, and what is said where it is empty."""

    read: Callable[[Timeline], Table]
    titles: Mapping[str, str]
    rates: str = ""
    has_spans: bool = False


TABLES: dict[str, TableForm] = {
    "lines": TableForm(
        Timeline.by_line, {"line": "line", "code": "code"} | _TIMES | _RATES | {"ops": "HLO ops"}, rates="line"
    ),
    "ops": TableForm(
        Timeline.by_op,
        {"op": "HLO op", "line": "line"} | _TIMES | _RATES | {"category": "opcode", "scope": "scope"},
        rates="op",
    ),
    "kernels": TableForm(Timeline.by_kernel, {"kernel": "kernel"} | _TIMES | {"op": "HLO op", "kind": "kind"}),
    "scopes": TableForm(Timeline.by_scope, {"scope": "scope"} | _TIMES),
    "kinds": TableForm(Timeline.by_kind, {"activity": "activity", "category": "opcode"} | _TIMES),
    "gaps": TableForm(
        Timeline.gaps,
        {"duration": "idle for", "start": "from", "host": "the host meanwhile", "share": "of the gap",
         "waits for": "waits for", "line": "line", "code": "code", "could hide": "work that could hide it",
         "at": "at", "device": "device"},
        has_spans=True,
    ),
    "exposed": TableForm(
        Timeline.exposed,
        {"line": "line", "code": "code", "collective": "collective", "exposed": "exposed", "time": "its time",
         "independent": "independent work after it", "independent line": "most of it at", "iterations": "iterations"},
    ),
    "waits": TableForm(
        Timeline.waits,
        {"op": "HLO op", "line": "line", "count": "count", "last": "last process", "times last": "times last",
         "wait": "wait", "total": "in all"},
    ),
    "compiles": TableForm(
        Timeline.compiles, {"event": "event", "thread": "thread", "start": "start", "total": "total", "self": "self"}
    ),
    "steps": TableForm(
        Timeline.steps, {"step": "step", "start": "start", "duration": "duration", "busy": "busy"}, has_spans=True
    ),
    "ranges": TableForm(
        Timeline.by_range,
        {"range": "range", "share": "share", "self": "self", "total": "total", "count": "count", "lanes": "lanes"},
    ),
}  # fmt: skip
OF_DEVICE_WORK = ("lines", "ops", "kernels", "scopes", "kinds", "gaps")
"""Tables that are empty where no device's work was recorded."""


def read(program: Program, timeline: Timeline, name: str, part: tuple[int, int] | None) -> Table:
    """A table of a timeline, or of a range of picoseconds of it. Raises BadRequest for a table there is none of."""
    if name not in TABLES:
        raise BadRequest(f"there is no table {quoted(name)}; there is {', '.join(TABLES)}")
    form = TABLES[name]
    shown = timeline if part is None else timeline.between(part[0] / SECOND, part[1] / SECOND)
    table = form.read(shown)
    if form.rates:
        table = with_rates(program, shown, table, form.rates)
    if "line" in table.columns and "code" in form.titles:
        table = _with_code(table, line_texts(program))
    return table


def _with_code(table: Table, texts: Mapping[str, str]) -> Table:
    """What stands at each row's line, where the source of any is shown."""
    code = [texts.get(str(plain(line))) if plain(line) is not None else None for line in table["line"]]
    if not any(code):
        return table
    return replace(table, columns={**table.columns, "code": Column(code, "", "what stands at the line")})


def packed(table: Table, titles: Mapping[str, str]) -> Answer:
    """The first rows of a table as the front end takes them, their rows of the HLO document beside."""
    shown = _cut(table.take(range(min(len(table), MOST_ROWS))))
    result, buffers = wire_form.packed_table(
        shown, {name: title for name, title in titles.items() if name in shown.columns}
    )
    return result | {"total": len(table), "notes": list(table.notes)}, buffers


def _cut(table: Table) -> Table:
    """Texts as long as a page takes: a profile may hold names of megabytes."""
    columns = {
        name: replace(column, values=[_short(value) for value in column.values])
        if any(isinstance(value, str) for value in column.values)
        else column
        for name, column in table.columns.items()
    }
    return replace(table, columns=columns)


def _short(value: Any) -> Any:
    return value[: LONGEST_TEXT - 1] + "…" if isinstance(value, str) and len(value) > LONGEST_TEXT else value


def _get_table(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    timeline, program = timeline_of(programs, params, progress), given.program(programs, params)
    name, part = given.text(params, "table"), window(params)
    progress("summing")
    if part is not None and part[0] == part[1]:
        raise BadRequest("the selected range is empty")
    table = read(program, timeline, name, part)
    result, buffers = packed(table, _titles(name, timeline))
    spans = _spans(table) if TABLES[name].has_spans else []
    return result | {"spans": spans, "nothing": " ".join(table.notes)}, buffers


_DRAWN = ("self", "total")
_OF_PREDICTIONS = {"busy": "a call", "duration": "no compute for"}


def _titles(name: str, timeline: Timeline) -> Mapping[str, str]:
    """Those of a table; of a prediction seconds of a call alone, and a device there is not idle but waits."""
    titles = TABLES[name].titles
    if not timeline.is_predicted:
        return titles
    return {column: _OF_PREDICTIONS.get(column, title) for column, title in titles.items() if column not in _DRAWN}


def _spans(table: Table) -> Sequence[tuple[float, float]]:
    pairs = list(zip(table["start"], table["duration"], strict=True))[:MOST_ROWS]
    return [(float(start), float(start) + float(length)) for start, length in pairs]


METHODS: dict[str, Method] = {"timeline table": jobs.slow(_get_table)}
