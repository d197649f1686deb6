"""A Table, and sentences between tables, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jaxstage_ext.report.text import markup, still_table
from jaxstage_ext.report.text.cell_text import MOST_ROWS, cell, cell_of, is_number, one_line
from jaxstage_ext.report.text.markup import Html
from jaxstage_ext.report.text.still_table import Cell, Colour, Head, Span, StillTable
from jaxstage_ext.report.text.terminal import clean

Part = Any
"""A sentence, or a Table below it; an empty text is a gap in the text form."""
_SHORT_REASON, _MOST_REASONS = 40, 5
_LONGEST, _LONGEST_SENTENCE, _KEPT_END = 300, 4000, 100
_ANSWER_EM = (24, 60)
"""Between which a column is wide that the table is read for, in HTML."""


def text_of(parts: Iterable[Part]) -> str:
    """The parts one below the other, as text."""
    return "\n".join(map(str, parts))


def html_of(parts: Iterable[Part], most: int = MOST_ROWS) -> Html:
    """The parts one below the other, as HTML, at most so many rows of each table."""
    return markup.together(_sentences(part) if isinstance(part, str) else _table(part, most) for part in parts)


def text(table: Any) -> str:
    """The first rows of a Table, and its notes."""
    shown = table.take(range(min(len(table), MOST_ROWS)))
    texts = [[clean(one_line(_text(shown, row, name))) for row in range(len(shown))] for name in shown.columns]
    heads = tuple(Head(name, any(map(is_number, column.values))) for name, column in shown.columns.items())
    rows = tuple(zip(*texts, strict=True))
    still = StillTable(heads, rows, left_out=len(table) - len(shown))
    lines = still_table.lines(still, still_table.LONGEST_LINE) if rows else []
    return "\n".join([*lines, *table.notes]) or f"no {table.name}"


def _sentences(text: str) -> Html:
    return markup.together(markup.note(_short(line, _LONGEST_SENTENCE)) for line in text.splitlines() if line)


def _table(table: Any, most: int) -> Html:
    shown = table.take(range(min(len(table), most)))
    names = _answers_early(shown.columns)
    heads = tuple(_head(name, shown.columns[name]) for name in names)
    rows = tuple(tuple(_cell(shown, row, name) for name in names) for row in range(len(shown)))
    still = StillTable(heads, rows, left_out=len(table) - len(shown), is_code=True)
    said = "\n".join([*_long_reasons(shown), *table.notes]) or ("" if rows else f"no {table.name}")
    return markup.together((markup.table(still), _sentences(said)))


def _answers_early(columns: Mapping[str, Any]) -> list[str]:
    """The columns' names: what the table is read for beside the first, where a narrow page shows it."""
    first, *others = columns
    return [first, *sorted(others, key=lambda name: not columns[name].is_answer)]


def _head(name: str, column: Any) -> Head:
    least, most = _ANSWER_EM if column.is_answer else (0, 0)
    return Head(_short(name), any(map(_is_figure, column.values)), _short(column.doc), least, most)


def _cell(table: Any, row: int, name: str) -> Cell:
    text = _short(_text(table, row, name))
    if text != "unknown":
        return text
    why = _short(table.reasons.get((row, name), ""))
    return Span(f"{text} ({why})" if why and len(why) <= _SHORT_REASON else text, Colour.DIM,
                hint=why if len(why) > _SHORT_REASON else "")  # fmt: skip


def _text(table: Any, row: int, name: str) -> str:
    column = table.columns[name]
    return table.texts.get((row, name)) or cell_of(name, column.values[row], column.unit)


def _short(text: str, most: int = _LONGEST) -> str:
    """A text on one line; a very long one without its middle, since names are told apart by their ends."""
    text = one_line(text)
    return text if len(text) <= most else f"{text[: most - _KEPT_END - 1]}…{text[-_KEPT_END:]}"


def _is_figure(value: Any) -> bool:
    """Whether it is a number, or a change of one as text: `+1,200`, `−3 B`."""
    return is_number(value) or (isinstance(value, str) and value[:1] in ("+", "−") and value[1:2].isdigit())


def _long_reasons(shown: Any) -> list[str]:
    """Why figures are unknown, below the table where it would push the other columns out of sight."""
    reasons: dict[str, dict[str, None]] = {}
    for (row, name), why in shown.reasons.items():
        if len(why := _short(why)) > _SHORT_REASON and cell(shown.columns[name].values[row]) == "unknown":
            reasons.setdefault(why, {})[name] = None
    lines = [f"unknown {' and '.join(names)}: {why}" for why, names in reasons.items()]
    more = len(lines) - _MOST_REASONS
    return lines if more <= 0 else [*lines[:_MOST_REASONS], f"and {more:,} more reasons, on hover"]
