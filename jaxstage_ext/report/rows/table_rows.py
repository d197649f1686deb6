"""Rows of a Table as plain JSON types: chosen by values, in the order of a column, at most so many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from jaxstage_ext.report.rows import row_wording as wording
from jaxstage_ext.report.text.cell_text import is_number, plain
from jaxstage_ext.report.text.shortened import shortened

Where = Mapping[str, Any]
"""Column -> the value of the rows to keep: one, several in a list, None for unknown, or a function of the value."""
_KINDS = ("opcode", "collective", "value", "argument", "option", "operation", "primitive", "kind", "pass")
"""The columns that say what a row is about, in names that a new compile does not change; the first that is there."""
_PLACES = ("instruction", "row", "line", "scope")
_LONGEST_TEXT, _LONGEST_ID = 1000, 300


class RowChoice(TypedDict, total=False):
    """What `Table.to_json` gives rows of; without any of it, it gives all columns."""

    limit: int | None
    by: str
    where: Where | None


def chosen(table: Any, by: str = "", where: Where | None = None) -> list[int]:
    """The rows with these values, in the order of a column: numbers the most first, texts by the alphabet.

    Raises ValueError, in one line with what exists, for an unknown column.
    """
    rows = [*range(len(table))]
    for name, wanted in _checked(where).items():
        values, fits = _column(table, name), _condition(wanted)
        rows = [row for row in rows if fits(plain(values[row]))]
    return _ordered(rows, _column(table, by)) if by else rows


def rows_form(table: Any, limit: int | None = None, by: str = "", where: Where | None = None) -> dict[str, Any]:
    """The chosen rows with units, reasons, ids, and what was left out: how many rows, and their totals.

    Raises ValueError, in one line, for an unknown column and for a limit below 1.
    """
    check_limit(limit, len(table))
    rows, ids = chosen(table, by, where), identities(table)
    shown, rest = (rows, []) if limit is None else (rows[:limit], rows[limit:])
    form: dict[str, Any] = {
        "table": table.name,
        "units": {name: column.unit for name, column in table.columns.items() if column.unit},
        "rows": [_row(table, row, ids[row]) for row in shown],
        "of": len(table),
        "left_out": {"rows": len(rest), "totals": _totals(table, rest)},
        "notes": [shortened(note, _LONGEST_TEXT) for note in table.notes],
    }
    if not rows and where:
        form["notes"] += _why_none(table, where)
    return form


def check_limit(limit: object, rows: int) -> None:
    """Raises ValueError for what is neither None nor a number of rows."""
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ValueError(wording.bad_limit(limit, rows))


def identities(table: Any) -> list[str]:
    """A name for each row that survives an edit elsewhere: source line, scope and what it is, numbered where equal.

    It does not hold the compiler's own names of instructions, which change with every edit.
    """
    kind = next((name for name in (*_KINDS, *table.columns) if name in table.columns and name not in _PLACES), "")
    parts = [name for name in ("line", "scope", kind) if name in table.columns]
    columns = [table.columns[name].values for name in parts]
    columns = [*columns[:-1], table.scopes, columns[-1]] if len(table.scopes) and columns else columns
    seen, names = Counter[str](), []
    for values in zip(*columns, strict=True):
        name = " ".join(shortened(str(plain(value)), _LONGEST_ID) for value in values if plain(value) not in (None, ""))
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return names or [""] * len(table)


def _row(table: Any, row: int, identity: str) -> dict[str, Any]:
    """One row: its values by column, and where there are any the reasons of unknown ones and what is remarked."""
    values = {name: _bounded(plain(column.values[row])) for name, column in table.columns.items()}
    unknown = {name: table.reasons.get((row, name), "") for name, value in values.items() if value is None}
    made: dict[str, Any] = {"id": identity, "values": values}
    if len(table.scopes):
        made["scope"] = _bounded(table.scopes[row])
    told = {name: _bounded(reason) or wording.NO_REASON for name, reason in unknown.items() if name not in _PLACES}
    remarks = {name: _bounded(table.remarks[row, name]) for name in values if (row, name) in table.remarks}
    texts = {name: _bounded(table.texts[row, name]) for name in values if (row, name) in table.texts}
    return made | {name: part for name, part in (("unknown", told), ("remarks", remarks), ("texts", texts)) if part}


def _totals(table: Any, rows: Sequence[int]) -> dict[str, Any]:
    """Of the columns that add up, what these rows have together: the known sum, and how many are unknown."""
    made: dict[str, Any] = {}
    for name in table.adds_up if rows else ():
        if name not in table.columns:
            continue
        values = table.columns[name].values
        known = [value for row in rows if is_number(value := plain(values[row]))]
        made[name] = {"known": sum(known) if known else None, "unknown": len(rows) - len(known)}
    return made


def _checked(where: object) -> Where:
    if where is not None and not isinstance(where, Mapping):
        raise ValueError(wording.bad_where(where))
    return where or {}


def _column(table: Any, name: str) -> Sequence[Any]:
    if name in table.columns:
        values: Sequence[Any] = table.columns[name].values
        return values
    if name == "scope" and len(table.scopes):
        scopes: Sequence[Any] = table.scopes
        return scopes
    there = [*table.columns, *(["scope"] if len(table.scopes) else [])]
    raise ValueError(wording.no_column(name, table.name, there))


def _condition(wanted: Any) -> Callable[[Any], bool]:
    if callable(wanted):
        return lambda value: value is not None and bool(wanted(value))
    if isinstance(wanted, list | tuple | set | frozenset):
        return lambda value: value in wanted
    return lambda value: bool(value == wanted)


def _ordered(rows: list[int], values: Sequence[Any]) -> list[int]:
    """Unknown ones last."""
    keyed = [(plain(values[row]), row) for row in rows]
    known = [pair for pair in keyed if pair[0] is not None]
    are_numbers = all(is_number(value) for value, _ in known)
    known.sort(key=(lambda pair: -pair[0]) if are_numbers else (lambda pair: str(pair[0])))
    return [row for _, row in known] + [row for value, row in keyed if value is None]


def _why_none(table: Any, where: Where) -> list[str]:
    notes = []
    for name, wanted in where.items():
        if not chosen(table, where={name: wanted}):
            values = Counter(plain(value) for value in _column(table, name))
            notes.append(wording.no_row(name, wanted, [value for value, _ in values.most_common()]))
    return notes


def _bounded(value: Any) -> Any:
    return shortened(value, _LONGEST_TEXT) if isinstance(value, str) else value
