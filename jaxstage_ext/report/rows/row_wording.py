"""What is said where rows of a table are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxstage_ext.report.text.shortened import shortened, some
from jaxstage_ext.report.text.units import plural

_MOST_NAMES, _LONGEST = 30, 60


def _quoted(value: object) -> str:
    return shortened(repr(value), _LONGEST)


def no_column(name: object, table: str, columns: Sequence[str]) -> str:
    """That a table has no such column, and which it has."""
    return f"{_quoted(name)} is not a column of the {table} table; it has {some(columns, _MOST_NAMES)}"


def bad_limit(limit: object, rows: int) -> str:
    """That a limit is not a number of rows."""
    return f"limit must be a whole number from 1 on, not {_quoted(limit)}; leave it out for all {rows:,} rows"


def bad_where(where: object) -> str:
    """That what chooses rows is not a mapping."""
    return f"where takes values by column, such as {{'opcode': 'fusion'}}, not {_quoted(where)}"


def no_row(column: str, wanted: object, values: Sequence[str]) -> str:
    """That no row has the value that was asked for, and which values there are, the most frequent first."""
    if callable(wanted):
        return f"No row fits the condition on {column}."
    there = some([_quoted(value) for value in values], 8)
    return f"No row has {column} {_quoted(wanted)}; there is {there or 'no row'}."


NO_REASON = "the reason was not recorded"


def needs_arrow() -> str:
    """How to get what makes Arrow of a table."""
    return "a table as an Arrow stream needs arro3: pip install arro3-core"


def head(table: str, rows: int, columns: Sequence[str]) -> str:
    """What a table is, how many rows it has, and its columns with units."""
    return f"JAXStage table {table!r}, {plural(rows, 'row')}; columns: {some(columns, _MOST_NAMES)}"


def more(table: Any) -> list[str]:
    """The expressions that give more of a table."""
    by = next((name for name, column in table.columns.items() if column.unit), next(iter(table.columns), ""))
    return [f'rows as JSON: .to_json(limit=10, by="{by}", where={{column: value}}); for row in table: dicts']
