"""Two axes of a mesh as text and as HTML that runs no code; both from the plain form of `analysis.mesh_sheet`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jaxstage_ext.report.text import markup, still_table
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Cell, Face, Span, StillTable
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import share as percent

Plain = Mapping[str, Any]

_COLOURS = ("#3075d0", "#aa641f", "#2d854b", "#875fd1", "#c14c7a", "#23818b", "#8e7225", "#71767d")
"""Of neighbouring parts; a part's colour comes again after eight."""
_WIDEST, _MOST_TITLE = 40, 300


def text(sheet: Plain) -> list[str]:
    """The title, the columns' numbers, then a line for each row of devices: `3 [6:7] 50 % filled`."""
    table = _table(sheet)
    shown = table if sheet["rows"] else replace(table, rows=tuple(row[1:] for row in table.rows))
    return [_title(sheet), *still_table.lines(shown), *_rest(sheet)]


def html(sheet: Plain) -> Html:
    """The same as a table; devices of one colour hold the same."""
    title = markup.paragraph(said(_title(sheet), face=Face.CODE))
    return markup.together((title, markup.table(_table(sheet)), *(markup.paragraph(said(it)) for it in _rest(sheet))))


def _table(sheet: Plain) -> StillTable:
    rows: list[tuple[Cell, ...]] = [tuple(_head(sheet))]
    rows += [(str(row) if sheet["rows"] else "", *map(_drawn, cells)) for row, cells in enumerate(sheet["cells"])]
    return StillTable((), tuple(rows))


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


def _drawn(cell: Plain) -> Span:
    return Span(_said(cell), edge=_COLOURS[int(cell["part"]) % len(_COLOURS)])
