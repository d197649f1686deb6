"""The best layout of each kind as a table, for still forms: what to take, and what the others cost against it."""

from __future__ import annotations

from jaxstage_ext.program.program import Program
from jaxstage_ext.program.searching.program_search import ProgramSearch, kept_search
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.search.drawn import found_wording as wording
from jaxstage_ext.search.drawn.layout_columns import best_of, columns_of
from jaxstage_ext.search.layout_result import ScoredLayout

_MOST = 2_000


def kinds_table(program: Program) -> Table | None:
    """The best of each kind and the user's own layout, if the layouts of a program were searched."""
    search = kept_search(program)
    return None if search is None else table_of(search)


def table_of(search: ProgramSearch) -> Table:
    """The same of a search. Times are seconds of one call, arguments bytes of one device."""
    layouts, best = _shown(search), best_of(search.found, search.room)
    columns = {
        "estimate": Column([layout.estimate.middle for layout in layouts], "s", "estimated time of one call"),
        "vs. best": Column([wording.ratio_text(layout, best) for layout in layouts]),
        "arguments": Column([layout.estimate.argument_bytes for layout in layouts], "B", "bytes on one device, exact"),
        "compiled": Column([wording.compiled_text(layout, search.room) for layout in layouts]),
        "layout": Column([_title(layout) for layout in layouts]),
    }
    reasons = {
        (row, "estimate"): " ".join(layout.estimate.unknown)
        for row, layout in enumerate(layouts)
        if layout.estimate.middle is None
    }
    notes = (wording.take(search.found, search.room), wording.besides(search.found, search.room))
    return Table("layouts", columns, reasons, tuple(filter(None, (*notes, *search.found.notes))))


def _shown(search: ProgramSearch) -> list[ScoredLayout]:
    columns, found = columns_of(search.found, _MOST), search.found
    own = [] if found.own is None else [found.own.number]
    numbers = {columns.layouts[row].number for row in columns.bests()} | set(own)
    return [found.layouts[number] for number in sorted(numbers)]


def _title(layout: ScoredLayout) -> str:
    return f"{wording.layout_title(layout)} (yours)" if layout.is_own else wording.layout_title(layout)
