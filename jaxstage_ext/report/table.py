"""A table of facts: columns of one length, each with its unit; what is not known is empty and says why."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxstage_ext.report.format_version import SCHEMA_VERSION
from jaxstage_ext.report.units import scaled as scaled

MOST_ROWS = 30
"""Rows that the text form shows."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
      values: a numpy array or a list; NaN, None or a negative row number is an unknown.
      unit: "B", "FLOP", "s", ...; "" for names and plain counts.   doc: what it is, in one sentence.
    """

    values: Any
    unit: str = ""
    doc: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name.

    Attributes:
      reasons: (row, column) -> why that value is unknown.     notes: what is to be known of the whole.
    """

    name: str
    columns: Mapping[str, Column]
    reasons: Mapping[tuple[int, str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return max((len(column.values) for column in self.columns.values()), default=0)

    def __getitem__(self, name: str) -> Any:
        if name not in self.columns:
            raise KeyError(f"{name!r}: the {self.name} table has {', '.join(self.columns)}")
        return self.columns[name].values

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as plain Python values, None where unknown."""
        for row in range(len(self)):
            yield {name: plain(column.values[row]) for name, column in self.columns.items()}

    def sorted_by(self, name: str, descending: bool = True) -> Table:
        """The rows in the order of one column, unknown ones last."""
        values = self[name]
        keyed = [(plain(value), row) for row, value in enumerate(values)]
        known = sorted((k for k in keyed if k[0] is not None), key=lambda k: k[0], reverse=descending)
        return self.take([row for _, row in known] + [row for value, row in keyed if value is None])

    def take(self, rows: Sequence[int]) -> Table:
        """Some rows, in the order given."""
        places = {row: place for place, row in enumerate(rows)}
        columns = {
            name: Column(
                column.values[np.asarray(rows, np.int64)]
                if isinstance(column.values, np.ndarray)
                else [column.values[row] for row in rows],
                column.unit,
                column.doc,
            )
            for name, column in self.columns.items()
        }
        reasons = {(places[r], c): why for (r, c), why in self.reasons.items() if r in places}
        return Table(self.name, columns, reasons, self.notes)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, units in the names. Raises ImportError, with the pip line, where pandas is missing."""
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        named = {f"{n} ({c.unit})" if c.unit else n: list(map(plain, c.values)) for n, c in self.columns.items()}
        return pandas.DataFrame(named)

    def to_json(self) -> str:
        """Versioned JSON: columns with their units, unknowns as null with their reasons."""
        return json.dumps(
            {
                "jaxstage": SCHEMA_VERSION,
                "table": self.name,
                "columns": {
                    name: {"unit": c.unit, "doc": c.doc, "values": list(map(plain, c.values))}
                    for name, c in self.columns.items()
                },
                "reasons": [[row, column, why] for (row, column), why in self.reasons.items()],
                "notes": list(self.notes),
            }
        )

    def __str__(self) -> str:
        shown = self.take(range(min(len(self), MOST_ROWS)))
        texts = {name: [cell(v, c.unit) for v in c.values] for name, c in shown.columns.items()}
        wide = {name: max(len(name), *map(len, cells), 1) for name, cells in texts.items() if cells}
        right = {name for name, c in shown.columns.items() if any(is_number(v) for v in c.values)}
        lines = ["  ".join(_pad(n, w, n in right) for n, w in wide.items()).rstrip()] if wide else []
        for row in range(len(shown)):
            lines.append("  ".join(_pad(texts[n][row], w, n in right) for n, w in wide.items()).rstrip())
        if len(self) > len(shown):
            lines.append(f"and {len(self) - len(shown):,} more rows")
        return "\n".join([*lines, *self.notes]) or f"no {self.name}"

    __repr__ = __str__


def is_number(value: Any) -> bool:
    """Whether a cell is a number; a truth value is none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def plain(value: Any) -> Any:
    """A cell as JSON takes it; None for an unknown."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if isinstance(value, float) and not math.isfinite(value) else value


def cell(value: Any, unit: str = "") -> str:
    """A cell as text: three figures with a prefix where there is a unit, "unknown" where there is no value."""
    value = plain(value)
    if value is None:
        return "unknown"
    if not is_number(value):
        return str(value)
    if not unit:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return scaled(float(value), unit)


def _pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)
