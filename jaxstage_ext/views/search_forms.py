"""A search of layouts as text and as HTML that runs no code: what to take, the map, and the best of each kind."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from jaxstage_ext.report.table import Table, cell
from jaxstage_ext.report.text import markup, still_table
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.still_table import Face, Head, StillTable
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.search.drawn import found_wording as wording
from jaxstage_ext.search.drawn.layout_columns import columns_of
from jaxstage_ext.search.layout_result import LayoutsFound
from jaxstage_ext.views.layout_picture import layout_map

MOST_DRAWN, MOST_ROWS = 2_000, 14
_LONGEST, _WIDEST, _FIGURES = 600, 72, ("estimate", "vs. best", "arguments")


def text(found: LayoutsFound, room: int | None, table: Table, columns: int = 100) -> str:
    """The sentences, the best of each kind, and the notes, in so many columns; `table` has the kinds."""
    lines = [part for sentence in _sentences(found, room) for part in textwrap.wrap(sentence, columns)]
    lines += [cut(line, columns) for line in still_table.lines(_still(table))]
    return "\n".join(lines + [part for note in found.notes for part in textwrap.wrap(_shown(note), columns)])


def html(found: LayoutsFound, room: int | None, table: Table) -> Html:
    """The same with the map."""
    first, *more = _sentences(found, room)
    head = markup.paragraph(said(first, face=Face.STRONG, most=_LONGEST), *(said(text, most=_LONGEST) for text in more))
    notes = markup.items(said(_shown(note), most=_LONGEST) for note in found.notes)
    drawn = layout_map(columns_of(found, MOST_DRAWN), room)
    return markup.box(head, drawn, markup.table(_still(table)), notes)


def _sentences(found: LayoutsFound, room: int | None) -> Iterator[str]:
    yield _shown(wording.take(found, room))
    if besides := wording.besides(found, room):
        yield _shown(besides)


def _still(table: Table) -> StillTable:
    rows = table.take(range(min(len(table), MOST_ROWS)))
    heads = tuple(Head(name, name in _FIGURES) for name in table.columns)
    cells = tuple(
        tuple(cut(_shown(cell(value, table.columns[name].unit)), _WIDEST) for name, value in row.items())
        for row in rows.rows()
    )
    return StillTable(heads, cells, left_out=len(table) - len(rows))


def _shown(words: str) -> str:
    return cut(clean(public_folders(words)), _LONGEST)
