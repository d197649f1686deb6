"""What still forms show of a program beside its documents: answers, the first rows of tables, a chart of its memory.

Only what is known or takes milliseconds; nothing is compiled or run for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report import measuring
from jaxstage_ext.report.table import Table, cell, is_number, plain
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.still_table import Head, StillTable
from jaxstage_ext.report.text.terminal import clean, cut, cut_start
from jaxstage_ext.report.text.units import plural, scaled
from jaxstage_ext.report.view_parts import Parts, Value

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program
    from jaxstage_ext.program.tab.tab_record import TabTable
    from jaxstage_ext.search.drawn.layout_columns import LayoutColumns

MOST_ROWS = 10
_WIDEST = 60
_TITLES: Mapping[str, str] = {"time": "lower bound", "name": "pass", "index": ""}
_PATHS = ("value", "argument", "buffer")
"""The columns that name leaves of pytrees, which their ends tell apart."""
_BAR = ("bytes read", "bytes written")
"""The columns whose sum a row's bar draws."""


@dataclass(frozen=True)
class MemoryCurve:
    """Live bytes over the schedule, and the same in words."""

    live: npt.NDArray[np.int64]
    position: int
    peak: int

    @property
    def text(self) -> str:
        steps = plural(len(self.live), "instruction")
        return f"live memory over the schedule of {steps}; the peak is {scaled(self.peak, 'B')}, at {self.position:,}"


def findings(program: Program) -> list[list[str]]:
    """What to change, the most to gain first: a sentence each with the lines to write, and what was looked for."""
    none: list[list[str]] = []
    said = _or(none, lambda: _found().said_briefly(program))
    return [[public_folders(clean(text)) for text in lines] for lines in said]


def best_finding(program: Program) -> str:
    """The finding with the most to gain, in a sentence; "" where there is none or it was not looked for."""
    with measuring.left_alone():
        return public_folders(clean(_or("", lambda: _found().said_first(program))))


def nothing_found(program: Program) -> str:
    """What was not looked for yet in a program without a finding, in a sentence; "" where that is nothing."""
    return _or("", lambda: _found().said_of_none(program))


def answers(program: Program) -> list[tuple[str, str]]:
    """Questions and answers."""
    none: list[tuple[str, str]] = []
    found = _or(none, lambda: [(asked, answer.text) for asked, answer in _facts().cheap_answers(program)])
    return [(asked, public_folders(text)) for asked, text in found]


def tables(program: Program) -> list[StillTable]:
    """The first rows of each table that is known."""
    none: list[StillTable] = []
    return _or(none, lambda: [_shown(still, table) for still, table in _tabs().still_tables_of(program)])


def heaviest_rows(program: Program, most: int) -> list[int]:
    """The rows of the HLO document that move the most bytes; none where that is not known."""
    none: list[int] = []
    return _or(none, lambda: _facts().heaviest_rows(program, most))


def authors_arguments(program: Program) -> dict[str, str]:
    """JAX's names of the arguments that a library passes on in trees of its own, with the author's."""
    none: dict[str, str] = {}
    return _or(none, lambda: _facts().authors_arguments(program))


def memory_curve(program: Program) -> MemoryCurve | None:
    """Live memory over the schedule; None where it was not computed."""
    known: Any = _or(None, lambda: _facts().memory_curve(program))
    return MemoryCurve(*known) if known is not None and len(known[0]) else None


def layouts(program: Program) -> tuple[LayoutColumns, int | None] | None:
    """The layouts of a search and the bytes of one device; None where they were not searched."""
    none: tuple[LayoutColumns, int | None] | None = None
    return _or(none, lambda: _facts().searched_layouts(program))


def said_of_layouts(program: Program) -> list[str]:
    """Which layout to take, in sentences; nothing where no layouts were searched."""
    none: list[str] = []
    return [public_folders(clean(text)) for text in _or(none, lambda: _facts().said_of_layouts(program))]


def _facts() -> Any:
    from jaxstage_ext.program.tab import cheap_facts  # where there is a program, JAX is imported already

    return cheap_facts


def _found() -> Any:
    from jaxstage_ext.findings import found  # where there is a program, JAX is imported already

    return found


def _tabs() -> Any:
    from jaxstage_ext.program import tabs  # where there is a program, JAX is imported already

    return tabs


def _or(otherwise: Value, compute: Callable[[], Value]) -> Value:
    return Parts().get("What was computed", compute, otherwise)


def _shown(still: TabTable, table: Table) -> StillTable:
    names = tuple(name for name in still.columns if name in table.columns)
    if "cause" in table.columns and not any(row["cause"] for row in table.rows()):
        names = tuple(name for name in names if name != "line")  # that of the metadata, which may cause nothing
    return _first_rows(still, table, names)


def _first_rows(still: TabTable, table: Table, names: tuple[str, ...]) -> StillTable:
    rows = [*table.take(range(min(len(table), MOST_ROWS))).rows()]
    texts = tuple(tuple(_text(table, name, row[name]) for name in names) for row in rows)
    heads = tuple(Head(_TITLES.get(name, name), all(is_number(plain(row[name])) for row in rows)) for name in names)
    return StillTable(heads, texts, still.title, len(table) - len(rows), shares=_shares(table, len(rows)),
                      is_open=still.is_open, is_code=True)  # fmt: skip


def _text(table: Table, name: str, value: object) -> str:
    if name == "line" and not value:
        return "no line"
    text = clean(public_folders(cell(value, table.columns[name].unit)))
    return cut_start(text, _WIDEST) if name in _PATHS else cut(text, _WIDEST)


def _shares(table: Table, count: int) -> tuple[float, ...]:
    if not all(name in table.columns for name in _BAR):
        return ()
    moved = np.sum([np.asarray(table[name], np.float64) for name in _BAR], axis=0)
    whole = float(np.sum(moved))
    return tuple(float(value) / whole for value in moved[:count]) if np.isfinite(whole) and whole > 0 else ()
