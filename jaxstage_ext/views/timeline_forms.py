"""A timeline as text and as HTML that runs no code: the headline, the lanes, and the first rows of its tables."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jaxstage_ext.profiling.analysis import timeline_facts, timeline_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.saved import saved_source
from jaxstage_ext.report.table import Table, cell, plain
from jaxstage_ext.report.text import markup, still_table
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.still_table import Colour, Face, Head, StillTable
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import share
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views.lanes_html import lanes_html

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

_TEXT_ROWS, _HTML_ROWS, _WIDEST = 6, 12, 60
_TEXTS = ("line", "op", "kernel", "range", "host", "code", "collective", "independent line")
"""The columns that are no figures."""


class TimelineTable(NamedTuple):
    """A table of a still form: its title, how it is read, and its columns with their titles."""

    title: str
    read: Callable[[Timeline], Table]
    columns: Mapping[str, str]


_TIMES = {"share": "share", "busy": "busy", "count": "count"}
_TABLES = (
    TimelineTable("time by source line", Timeline.by_line, {"line": "line", **_TIMES, "code": "code"}),
    TimelineTable("time by HLO instruction", Timeline.by_op, {"op": "HLO op", **_TIMES, "line": "line"}),
    TimelineTable("time by kernel", Timeline.by_kernel, {"kernel": "kernel", **_TIMES}),
    TimelineTable(
        "time by range", Timeline.by_range, {"range": "range", "share": "share", "self": "self", "count": "count"}
    ),
    TimelineTable(
        "waits of processes for each other",
        Timeline.waits,
        {
            "op": "HLO op",
            "line": "line",
            "count": "count",
            "last": "last",
            "times last": "times last",
            "wait": "wait",
            "total": "in all",
        },
    ),
    TimelineTable(
        "longest idle times", Timeline.gaps, {"duration": "idle for", "start": "from", "host": "the host meanwhile"}
    ),
)

_OF_PREDICTION = (
    *_TABLES[:1],
    TimelineTable(
        "exposed collectives",
        Timeline.exposed,
        {
            "line": "line",
            "collective": "collective",
            "exposed": "exposed",
            "independent": "independent work after it",
            "independent line": "most of it at",
        },
    ),
    *_TABLES[1:2],
)


def text(program: Program, columns: int, source: bool | None = None) -> list[str]:
    """The lines of the text form, with or without source, None for the default; none without a timeline."""
    timeline = _known(program)
    if timeline is None:
        return []
    texts = _line_texts(program, source)
    parts = Parts()
    none: list[str] = []
    head = parts.get("The timeline", lambda: list(_head(timeline)), none)
    lines = [line for sentence in head for line in textwrap.wrap(clean(sentence), columns, subsequent_indent="  ")]
    for shown in _shown(timeline):
        table = parts.get(shown.title, functools.partial(_table, texts, timeline, shown, _TEXT_ROWS), None)
        if table is not None and table.rows:
            lines += ["", *(cut(line, columns) for line in still_table.lines(table))]
    return lines + parts.failures


def html(program: Program, most: int, source: bool | None = None) -> Html:
    """The HTML form in at most so many bytes: without the lanes where those do not fit; "" where nothing does.

    It is with or without source, None for the default.
    """
    timeline = _known(program)
    return markup.NOTHING if timeline is None else html_of(timeline, program, most, source)


def html_of(timeline: Timeline, program: Program, most: int, source: bool | None = None) -> Html:
    """The HTML form of one of a program's timelines; see `html`."""
    texts = _line_texts(program, source)
    parts = Parts()
    head = parts.get("The timeline", functools.partial(_head_html, timeline), markup.NOTHING)
    lanes = parts.get("The lanes", functools.partial(lanes_html, timeline), markup.NOTHING)
    tables = markup.together(
        parts.get(shown.title, functools.partial(_table_html, texts, timeline, shown, not at), markup.NOTHING)
        for at, shown in enumerate(_shown(timeline))
    )
    failed = markup.together(markup.paragraph(said(failure)) for failure in parts.failures)
    fitting = map(markup.together, ((head, lanes, tables, failed), (head, tables, failed), (head, failed), ()))
    return next(form for form in fitting if markup.size(form) <= most)


def _known(program: Program) -> Timeline | None:
    """The measured timeline, else the predicted one if somebody has looked at it. Computes nothing."""
    if program.timeline is not None:
        return program.timeline
    from jaxstage_ext.program.predicting.chosen_timeline import looked_at_prediction

    return looked_at_prediction(program)


def _shown(timeline: Timeline) -> list[TimelineTable]:
    """The tables that say something: by kernel only where no HLO instruction is known."""
    if timeline.is_predicted:
        return list(_OF_PREDICTION)
    try:
        is_known = {name: any(value is not None for value in read()[name])
                    for name, read in (("line", timeline.by_line), ("op", timeline.by_op))}  # fmt: skip
    except Exception:
        return list(_TABLES)
    is_known["kernel"] = not is_known["op"]
    return [still for still in _TABLES if is_known.get(next(iter(still.columns)), True)]


def _head(timeline: Timeline) -> Iterator[str]:
    yield public_folders(timeline_wording.sentence(timeline.headline))
    yield "; ".join(filter(None, [timeline.coverage, timeline_facts.window_text(timeline)]))
    yield from timeline_wording.losses(timeline.recording.lost)
    yield from timeline.notes


def _head_html(timeline: Timeline) -> Html:
    first, second, *lost = _head(timeline)
    losses = (said(loss, Colour.WARN, most=400) for loss in lost)
    return markup.paragraph(said(first, face=Face.STRONG, most=800), said(second, Colour.DIM, most=400), *losses)


def _table(texts: Mapping[str, str], timeline: Timeline, shown: TimelineTable, most: int) -> StillTable:
    table = shown.read(timeline)
    rows = table.take(range(min(len(table), most)))
    heads = tuple(Head(title, name not in _TEXTS) for name, title in shown.columns.items())
    cells = tuple(tuple(_cell(rows, name, row, texts) for name in shown.columns) for row in rows.rows())
    return StillTable(heads, cells, shown.title)


def _cell(table: Table, name: str, row: Mapping[str, object], texts: Mapping[str, str]) -> str:
    if name == "code":
        return cut(clean(texts.get(str(row["line"]), "")), _WIDEST)
    value = plain(row[name])
    if name == "share" and value is not None:
        return share(value)
    return cut(clean(public_folders(cell(value, table.columns[name].unit))), _WIDEST)


def _line_texts(program: Program, source: bool | None) -> Mapping[str, str]:
    """Where there is a program, JAX is imported already."""
    from jaxstage_ext.program.source.line_texts import line_texts

    if not saved_source.is_kept(source):
        return {}
    return Parts().get("The source", lambda: line_texts(program), {})


def _table_html(texts: Mapping[str, str], timeline: Timeline, shown: TimelineTable, is_open: bool) -> Html:
    table = _table(texts, timeline, shown, _HTML_ROWS)
    return markup.titled(replace(table, is_open=is_open)) if table.rows else markup.NOTHING
