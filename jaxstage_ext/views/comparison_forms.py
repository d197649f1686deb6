"""The compare table as text and as HTML that runs no code; both from its plain form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxstage_ext.report.text import markup, still_table
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.still_table import Colour, Face, Head, Span, StillTable
from jaxstage_ext.report.text.terminal import clean, cut

_MARKS = {"best": "▲", "worst": "▼"}
_MOST_ROWS, _WIDEST_CELL = 64, 24
_COLOURS = {"best": Colour.GOOD, "worst": Colour.WARN}

Plain = Mapping[str, Any]


def has_figures(table: Plain) -> bool:
    """Whether any figure of a target is known beside its device's, as none is before a compile, or one failed."""
    return any(
        row["error"] or any(cell.get("value") is not None for name, cell in row["cells"].items() if name != "capacity")
        for row in table["rows"]
    )


def text(table: Plain, columns: int = 160) -> str:
    """The table in monospaced columns, as many side by side as fit; the reasons for unknown figures follow below."""
    rows = table["rows"][:_MOST_ROWS]
    parts = (line for part in _table(table).folded(columns, _WIDEST_CELL) for line in still_table.lines(part))
    notes = [line for note in _notes(table, rows) for line in textwrap.wrap(note, columns, subsequent_indent="  ")]
    head = textwrap.wrap(clean(table.get("headline", "")), columns, subsequent_indent="  ")
    return "\n".join([*head, *parts, *notes])


def _table(table: Plain) -> StillTable:
    heads = (Head("target"), *(Head(clean(c["title"]), True, c["hint"]) for c in table["columns"]))
    rows = (
        (_target(row), *(_figure(row["cells"][column["name"]]) for column in table["columns"]))
        for row in table["rows"][:_MOST_ROWS]
    )
    return StillTable(heads, tuple(rows))


def _target(row: Plain) -> Span:
    return Span(clean(row["target"]), Colour.BAD if row["error"] else "", Face.STRONG, hint=row["error"] or "")


def _figure(cell: Plain) -> Span:
    mark = cell.get("mark", "")
    colour = _COLOURS.get(mark) or (Colour.DIM if cell.get("reason") else Colour.BAD if cell["text"] == "no" else "")
    text = clean(f"{_MARKS[mark]} {cell['text']}" if mark in _MARKS else cell["text"])
    return Span(cut(text, 40), colour, hint=cell.get("reason") or cell.get("note") or "")


def _notes(table: Plain, rows: Sequence[Plain]) -> Iterator[str]:
    """The legend, errors, and why figures are unknown, each reason once."""
    if any(cell.get("mark") for row in rows for cell in row["cells"].values()):
        yield "▲ best, ▼ worst of those known; figures are per device."
    if devices := [f"{row['target']}: {row['device']}" for row in rows if ", " in row["device"]]:
        yield clean("; ".join(devices))
    for row in rows:
        if row["error"]:
            yield clean(f"{row['target']}: {row['error']}")
    reasons: dict[str, list[str]] = {}
    for column in table["columns"]:
        for row in rows:
            cell = row["cells"][column["name"]]
            if cell.get("reason") and not row["error"]:
                reasons.setdefault(clean(cell["reason"]), []).append(
                    f"{clean(column['title'])} on {clean(row['target'])}"
                )
    for reason, where in reasons.items():
        named = some(where, 4)
        yield f"unknown: {named} ({reason})"


def html(table: Plain) -> Html:
    """One HTML table without script, style sheet or class."""
    notes = _notes(table, table["rows"][:_MOST_ROWS])
    below = markup.paragraph(*(said(note, Colour.DIM, most=400) for note in notes))
    headline = clean(table.get("headline", ""))
    head = [markup.paragraph(said(headline, face=Face.STRONG))] if headline else []
    return markup.together((*head, markup.table(_table(table)), below))
