"""Tables, and sentences between them, as HTML that stands alone: no script, no style sheet, the colours of the page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from jaxstage_ext.report.text.cell_text import MOST_ROWS, cell, cell_of, is_number, one_line

Part = Any
"""A sentence, or a Table below it; an empty text is a gap in the text form."""
_FRAME = "border-collapse:collapse;margin:4px 0"
_CELL = "padding:2px 12px 2px 0;white-space:pre;text-align:"
_LINE = "border-bottom:1px solid rgba(128,128,128,.35);"
_CODE = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:.92em;"
_DIM = "opacity:.65;"
_SHORT_REASON, _MOST_REASONS = 40, 5
_LONGEST, _LONGEST_SENTENCE, _KEPT_END = 300, 4000, 100


def text_of(parts: Iterable[Part]) -> str:
    """The parts one below the other, as text."""
    return "\n".join(map(str, parts))


def html_of(parts: Iterable[Part], most: int = MOST_ROWS) -> str:
    """The parts one below the other, as HTML, at most so many rows of each table; everything in them is escaped."""
    return "".join(_sentences(part) if isinstance(part, str) else _table(part, most) for part in parts)


def _sentences(text: str) -> str:
    return "".join(
        f'<div style="margin:2px 0">{html.escape(_short(line, _LONGEST_SENTENCE))}</div>'
        for line in text.splitlines()
        if line
    )


def _table(table: Any, most: int) -> str:
    shown = table.take(range(min(len(table), most)))
    heads = [(name, any(map(_is_figure, column.values))) for name, column in shown.columns.items()]
    head = "".join(_head(name, shown.columns[name].doc, right) for name, right in heads)
    rows = "".join(f"<tr>{''.join(_cells(shown, row, heads))}</tr>" for row in range(len(shown)))
    more = len(table) - len(shown)
    notes = [*([f"and {more:,} more rows"] if more else []), *_long_reasons(shown)]
    body = f'<table style="{_FRAME}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    said = _sentences("\n".join([*notes, *table.notes]) or ("" if rows else f"no {table.name}"))
    return (f'<div style="overflow-x:auto">{body}</div>' if rows else "") + said


def _short(text: str, most: int = _LONGEST) -> str:
    """A text on one line; a very long one without its middle, since names are told apart by their ends."""
    text = one_line(text)
    return text if len(text) <= most else f"{text[: most - _KEPT_END - 1]}…{text[-_KEPT_END:]}"


def _is_figure(value: Any) -> bool:
    """Whether it is a number, or a change of one as text: `+1,200`, `−3 B`."""
    return is_number(value) or (isinstance(value, str) and value[:1] in ("+", "−") and value[1:2].isdigit())


def _head(name: str, doc: str, right: bool) -> str:
    name, title = _short(name), f' title="{html.escape(_short(doc))}"' if doc else ""
    return f'<th style="{_CELL}{"right" if right else "left"};{_LINE}{_DIM}"{title}>{html.escape(name)}</th>'


def _cells(table: Any, row: int, heads: Sequence[tuple[str, bool]]) -> Iterable[str]:
    for name, right in heads:
        column = table.columns[name]
        text, why = _short(cell_of(name, column.values[row], column.unit)), table.reasons.get((row, name), "")
        style = f"{_CELL}{'right' if right else 'left'};{_CODE}" + (_DIM if text == "unknown" else "")
        why = _short(why) if text == "unknown" else ""
        said = f"unknown ({why})" if why and len(why) <= _SHORT_REASON else text
        title = f' title="{html.escape(why)}"' if why and said == text else ""
        yield f'<td style="{style}"{title}>{html.escape(said)}</td>'


def _long_reasons(shown: Any) -> list[str]:
    """Why figures are unknown, below the table where it would push the other columns out of sight."""
    reasons: dict[str, dict[str, None]] = {}
    for (row, name), why in shown.reasons.items():
        if len(why := _short(why)) > _SHORT_REASON and cell(shown.columns[name].values[row]) == "unknown":
            reasons.setdefault(why, {})[name] = None
    lines = [f"unknown {' and '.join(names)}: {why}" for why, names in reasons.items()]
    more = len(lines) - _MOST_REASONS
    return lines if more <= 0 else [*lines[:_MOST_REASONS], f"and {more:,} more reasons, on hover"]
