"""The compare table as text and as HTML that runs no code; both from its plain form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.views.words import clean, cut, width

_MARKS = {"best": "▲", "worst": "▼"}
_MOST_ROWS, _WIDEST_CELL = 64, 24
_CELL = "padding:1px 12px 1px 0; text-align:{align}; white-space:nowrap; background:transparent; border:none"
_COLOURS = {"best": "#2d854b", "worst": "#a36837"}
_DIM, _BAD = "#71767d", "#cf4545"

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
    first = ["target", *(clean(row["target"]) for row in rows)]
    blocks = [
        first,
        *([clean(c["title"]), *(_said(row["cells"][c["name"]]) for row in rows)] for c in table["columns"]),
    ]
    parts = ["\n".join(_beside(part)) for part in _folded(blocks, columns)]
    notes = [line for note in _notes(table, rows) for line in textwrap.wrap(note, columns, subsequent_indent="  ")]
    return "\n".join([*parts, *notes])


def _said(cell: Plain) -> str:
    mark = _MARKS.get(cell.get("mark", ""), "")
    return clean(f"{mark} {cell['text']}" if mark else cell["text"])


def _folded(blocks: Sequence[list[str]], columns: int) -> Iterator[list[list[str]]]:
    """The columns in parts that are no wider; each begins with the target."""
    first, part = blocks[0], [blocks[0]]
    for block in blocks[1:]:
        if len(part) > 1 and _total([*part, block]) > columns:
            yield part
            part = [first]
        part.append(block)
    yield part


def _total(part: Sequence[list[str]]) -> int:
    return sum(_width(block) + 2 for block in part) - 2


def _width(block: Sequence[str]) -> int:
    return min(max(map(width, block)), _WIDEST_CELL)


def _beside(part: Sequence[list[str]]) -> Iterator[str]:
    sizes = [_width(block) for block in part]
    for cells in zip(*part, strict=True):
        shown = [cut(cell, size) for cell, size in zip(cells, sizes, strict=True)]
        padded = [
            text + " " * (size - width(text)) if i == 0 else " " * (size - width(text)) + text
            for i, (text, size) in enumerate(zip(shown, sizes, strict=True))
        ]
        yield "  ".join(padded).rstrip()


def _notes(table: Plain, rows: Sequence[Plain]) -> Iterator[str]:
    """The legend, errors, and why figures are unknown, each reason once."""
    if any(cell.get("mark") for row in rows for cell in row["cells"].values()):
        yield "▲ best, ▼ worst of those known; figures are per device."
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


def html(table: Plain) -> str:
    """One HTML table without script, style sheet or class."""
    rows = table["rows"][:_MOST_ROWS]
    head = _th("target", "", "left") + "".join(_th(c["title"], c["hint"], "right") for c in table["columns"])
    body = "".join(f"<tr>{_row(row, table['columns'])}</tr>" for row in rows)
    notes = "".join(f"<br>{escape(cut(note, 400))}" for note in _notes(table, rows))
    return (
        f'<div style="overflow-x:auto"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f'<p style="margin:0 0 8px 0; color:{_DIM}">{notes.removeprefix("<br>")}</p>'
    )


def _th(title: str, hint: str, align: str) -> str:
    return f'<th style="{_CELL.format(align=align)}" title="{escape(clean(hint))}">{escape(clean(title))}</th>'


def _row(row: Plain, columns: Sequence[Plain]) -> str:
    error = f' title="{escape(clean(row["error"]))}"' if row["error"] else ""
    colour = f"; color:{_BAD}" if row["error"] else ""
    name = f'<td style="{_CELL.format(align="left")}{colour}"{error}><b>{escape(clean(row["target"]))}</b></td>'
    return name + "".join(_td(row["cells"][column["name"]]) for column in columns)


def _td(cell: Plain) -> str:
    mark = cell.get("mark", "")
    colour = _COLOURS.get(mark) or (_DIM if cell.get("reason") else _BAD if cell["text"] == "no" else "")
    style = _CELL.format(align="right") + (f"; color:{colour}" if colour else "")
    remark = cell.get("reason") or cell.get("note") or ""
    title = f' title="{escape(clean(remark))}"' if remark else ""
    return f'<td style="{style}"{title}>{escape(cut(_said(cell), 40))}</td>'
