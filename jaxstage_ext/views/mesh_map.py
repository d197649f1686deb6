"""Two axes of a mesh as text and as HTML that runs no code; both from the plain form of `analysis.mesh_sheet`."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from jaxstage_ext.report.text.units import share as percent
from jaxstage_ext.views.words import clean, cut, width

Plain = Mapping[str, Any]

_COLOURS = ("#3075d0", "#aa641f", "#2d854b", "#875fd1", "#c14c7a", "#23818b", "#8e7225", "#71767d")
"""Of neighbouring parts; a part's colour comes again after eight."""
_WIDEST, _MOST_TITLE = 40, 300
_CELL = "padding:1px 10px 1px 6px; text-align:left; white-space:nowrap; background:transparent; border:none"


def text(sheet: Plain) -> list[str]:
    """The title, the columns' numbers, then a line for each row of devices: `3 [6:7] 50 % filled`."""
    table = [_head(sheet), *([str(row), *map(_said, cells)] for row, cells in enumerate(sheet["cells"]))]
    table = table if sheet["rows"] else [[*cells[1:]] for cells in table]
    wide = [max(width(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = ["  ".join(f"{cell}{' ' * (w - width(cell))}" for cell, w in zip(row, wide, strict=True)) for row in table]
    return [_title(sheet), *(line.rstrip() for line in lines), *_rest(sheet)]


def html(sheet: Plain) -> str:
    """The same as a table; devices of one colour hold the same."""
    head = "".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in _head(sheet))
    body = "".join(
        f'<tr><td style="{_CELL}">{row if sheet["rows"] else ""}</td>{"".join(map(_drawn, cells))}</tr>'
        for row, cells in enumerate(sheet["cells"])
    )
    rest = "".join(f"<p>{escape(line)}</p>" for line in _rest(sheet))
    table = f'<div style="overflow-x:auto"><table><tr>{head}</tr>{body}</table></div>'
    return f'<p style="margin:4px 0 0 0"><code>{escape(_title(sheet))}</code></p>{table}{rest}'


def _title(sheet: Plain) -> str:
    return cut(clean(sheet["title"]), _MOST_TITLE)


def _rest(sheet: Plain) -> list[str]:
    return [cut(clean(sheet["left_out"]), _MOST_TITLE)] if sheet["left_out"] else []


def _head(sheet: Plain) -> list[str]:
    count = max((len(cells) for cells in sheet["cells"]), default=0)
    rows, columns = (cut(clean(sheet[key]), _WIDEST) for key in ("rows", "columns"))
    return [rows, *(f"{columns} {column}".strip() for column in range(count))]


def _said(cell: Plain) -> str:
    filled = "" if cell["filled"] >= 1 or cell["slice"] == "nothing" else f", {percent(cell['filled'])} filled"
    process = "" if cell.get("process") is None else f" (process {cell['process']})"
    return cut(clean(f"device {cell['device']}{process}: {cell['slice']}{filled}"), _WIDEST)


def _drawn(cell: Plain) -> str:
    colour = _COLOURS[int(cell["part"]) % len(_COLOURS)]
    return f'<td style="{_CELL}; border-left:6px solid {colour}">{escape(_said(cell))}</td>'
