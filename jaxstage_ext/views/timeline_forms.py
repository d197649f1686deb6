"""A timeline as text and as HTML that runs no code: the headline, the lanes, and the first rows of its tables."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from jaxstage_ext.profiling.analysis import timeline_facts, timeline_wording
from jaxstage_ext.profiling.mosaic import mosaic_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.saved import saved_source
from jaxstage_ext.report.table import Table, cell, is_number, plain
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.units import share
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views.lanes_html import lanes_html
from jaxstage_ext.views.words import clean, cut, width

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

_TEXT_ROWS, _HTML_ROWS, _WIDEST = 6, 12, 60
_DIM, _WARN = "#71767d", "#a36837"
_CELL = "padding:0 14px 0 0; text-align:{}; white-space:nowrap; background:transparent; border:none"


Cells = list[list[tuple[str, bool]]]
"""Rows of texts, each with whether it is a figure."""


class StillTable(NamedTuple):
    """A table of a still form: its title, how it is read, and its columns with their titles."""

    title: str
    read: Callable[[Timeline], Table]
    columns: Mapping[str, str]


_TIMES = {"share": "share", "busy": "busy", "count": "count"}
_TABLES = (
    StillTable("time by source line", Timeline.by_line, {"line": "line", **_TIMES, "code": "code"}),
    StillTable("time by HLO instruction", Timeline.by_op, {"op": "HLO op", **_TIMES, "line": "line"}),
    StillTable("time by kernel", Timeline.by_kernel, {"kernel": "kernel", **_TIMES}),
    StillTable(
        "time by range", Timeline.by_range, {"range": "range", "share": "share", "self": "self", "count": "count"}
    ),
    StillTable(
        "longest idle times", Timeline.gaps, {"duration": "idle for", "start": "from", "host": "the host meanwhile"}
    ),
)


def text(program: Program, columns: int, source: bool | None = None) -> list[str]:
    """The lines of the text form, with or without source, None for the default; none without a timeline."""
    timeline = program.timeline
    if timeline is None:
        return []
    texts = _line_texts(program, source)
    parts = Parts()
    none: list[str] = []
    head = parts.get("The timeline", lambda: list(_head(timeline)), none)
    lines = [line for said in head for line in textwrap.wrap(clean(said), columns, subsequent_indent="  ")]
    for still in _shown(timeline):
        no_rows: Cells = []
        rows = parts.get(still.title, functools.partial(_rows, texts, timeline, still, _TEXT_ROWS), no_rows)
        if len(rows) > 1:
            lines += ["", *(cut(line, columns) for line in _aligned(rows))]
    return lines + parts.failures


def html(program: Program, most: int, source: bool | None = None) -> str:
    """The HTML form in at most so many bytes: without the lanes where those do not fit; "" where nothing does.

    It is with or without source, None for the default.
    """
    timeline = program.timeline
    if timeline is None:
        return ""
    texts = _line_texts(program, source)
    parts = Parts()
    head = parts.get("The timeline", functools.partial(_head_html, timeline), "")
    lanes = parts.get("The lanes", functools.partial(lanes_html, timeline), "")
    tables = "".join(
        parts.get(still.title, functools.partial(_table_html, texts, timeline, still), "") for still in _shown(timeline)
    )
    failed = "".join(f"<p>{escape(clean(failure))}</p>" for failure in parts.failures)
    fitting = (head + lanes + tables + failed, head + tables + failed, head + failed, "")
    return next((form for form in fitting if len(form.encode("utf-8", "replace")) <= most), "")


def _shown(timeline: Timeline) -> list[StillTable]:
    """The tables that say something: by kernel only where no HLO instruction is known."""
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
    yield from mosaic_wording.notes(timeline.recording)


def _head_html(timeline: Timeline) -> str:
    first, second, *lost = (escape(cut(clean(said), 400)) for said in _head(timeline))
    losses = "".join(f'<br><span style="color:{_WARN}">{said}</span>' for said in lost)
    return f'<p style="margin:4px 0"><b>{first}</b><br><span style="color:{_DIM}">{second}</span>{losses}</p>'


def _rows(texts: Mapping[str, str], timeline: Timeline, still: StillTable, most: int) -> Cells:
    """The head and the first rows, each cell with whether it is a figure."""
    table = still.read(timeline)
    shown = table.take(range(min(len(table), most)))
    rows = [
        [
            (title, name not in ("line", "op", "kernel", "range", "host", "code"))
            for name, title in still.columns.items()
        ]
    ]
    for row in shown.rows():
        rows.append([_cell(shown, name, row, texts) for name in still.columns])
    return rows


def _cell(table: Table, name: str, row: Mapping[str, object], texts: Mapping[str, str]) -> tuple[str, bool]:
    if name == "code":
        return cut(clean(texts.get(str(row["line"]), "")), _WIDEST), False
    value = plain(row[name])
    if name == "share" and value is not None:
        return share(value), True
    return cut(clean(public_folders(cell(value, table.columns[name].unit))), _WIDEST), is_number(value)


def _line_texts(program: Program, source: bool | None) -> Mapping[str, str]:
    """Where there is a program, JAX is imported already."""
    from jaxstage_ext.program.source.line_texts import line_texts

    if not saved_source.is_kept(source):
        return {}
    return Parts().get("The source", lambda: line_texts(program), {})


def _aligned(rows: Cells) -> Iterator[str]:
    sizes = [max(width(row[at][0]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = []
        for (said, is_figure), size in zip(row, sizes, strict=True):
            room = " " * (size - width(said))
            cells.append(room + said if is_figure else said + room)
        yield "  ".join(cells).rstrip()


def _table_html(texts: Mapping[str, str], timeline: Timeline, still: StillTable) -> str:
    head, *rows = _rows(texts, timeline, still, _HTML_ROWS)
    if not rows:
        return ""
    lines = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows)
    titles = "".join(f'<th style="{_CELL.format(_align(is_figure))}">{escape(said)}</th>' for said, is_figure in head)
    table = f'<div style="overflow-x:auto"><table><tr>{titles}</tr>{lines}</table></div>'
    opened = " open" if still is _shown(timeline)[0] else ""
    return f"<details{opened}><summary>{escape(still.title)}</summary>{table}</details>"


def _td(shown: tuple[str, bool]) -> str:
    said, is_figure = shown
    return f'<td style="{_CELL.format(_align(is_figure))}">{escape(said)}</td>'


def _align(is_figure: bool) -> str:
    return "right" if is_figure else "left"
