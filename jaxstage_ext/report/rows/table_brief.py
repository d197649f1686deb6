"""A Table in a few lines for language models: its columns, its first rows, and the expressions that give more."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.report.rows import row_wording as wording
from jaxstage_ext.report.rows.table_rows import identities
from jaxstage_ext.report.text.brief_text import brief_text
from jaxstage_ext.report.text.cell_text import cell_of, plain

_ROWS, _LONGEST_CELL = 8, 60


def table_brief(table: Any) -> str:
    """At most 2 kB, equal for equal tables."""
    units = [f"{name} ({column.unit})" if column.unit else name for name, column in table.columns.items()]
    shown = table.take(range(min(len(table), _ROWS)))
    rows = [_row(shown, row, name) for row, name in enumerate(identities(shown))]
    return brief_text([wording.head(table.name, len(table), units)], [*table.notes[:3], *rows], wording.more(table))


def _row(table: Any, row: int, identity: str) -> str:
    """A row as `id: column value, …`; unknown values with their reason, empty ones left out."""
    cells = [_cell(table, row, name) for name, column in table.columns.items() if _is_told(table, row, name, column)]
    return f"- {identity}: {', '.join(cells)}"


def _is_told(table: Any, row: int, name: str, column: Any) -> bool:
    value = plain(column.values[row])
    return name not in ("row", "line") and value != "" and (value is not None or (row, name) in table.reasons)


def _cell(table: Any, row: int, name: str) -> str:
    value = plain(table.columns[name].values[row])
    if value is None:
        return f"{name} unknown ({table.reasons[row, name][:_LONGEST_CELL]})"
    text = table.texts.get((row, name)) or cell_of(name, value, table.columns[name].unit)
    return f"{name} {text[:_LONGEST_CELL]}"
