"""A table of facts: columns of one length, each with its unit; what is not known is empty and says why."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.rows import table_rows
from jaxstage_ext.report.rows.arrow_stream import arrow_stream
from jaxstage_ext.report.rows.table_brief import table_brief
from jaxstage_ext.report.rows.table_rows import Where
from jaxstage_ext.report.saved.format_version import TABLE_VERSION
from jaxstage_ext.report.text import table_forms
from jaxstage_ext.report.text.cell_text import MOST_ROWS as MOST_ROWS
from jaxstage_ext.report.text.cell_text import cell as cell
from jaxstage_ext.report.text.cell_text import is_number as is_number
from jaxstage_ext.report.text.cell_text import plain as plain

Place = tuple[int, str]
"""A cell: its row, from 0, and its column."""
Value = TypeVar("Value")


class CellMark(enum.Enum):
    """How a cell compares with the others of its column."""

    BEST = "best"
    WORST = "worst"


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
      values: a numpy array or a list; NaN and None are unknown.
      unit: "B", "FLOP", "s", ...; "" for names and plain counts.
      doc: what it holds, in one sentence.
      title: what it is called where people read it; "" where its name says that.
      lower_is_better: None where neither more nor less is better.
      is_whole: whether it is for whole numbers, also where none of them is known.
      is_answer: whether the table is read for it: where room lacks, other columns give way first.
    """

    values: Any
    unit: str = ""
    doc: str = ""
    title: str = ""
    lower_is_better: bool | None = None
    is_whole: bool = False
    is_answer: bool = False

    def take(self, rows: Sequence[int]) -> Column:
        """Some rows of it, in the order given."""
        is_array = isinstance(self.values, np.ndarray)
        taken = self.values[np.asarray(rows, np.int64)] if is_array else [self.values[row] for row in rows]
        return replace(self, values=taken)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name.

    Attributes:
      reasons: why a value is unknown.   remarks: what is to be known about a value.   marks: the best and the worst.
      texts: how a value is written that is not all that is known, such as "at least 1.2 GFLOP".
      notes: what is to be known about the whole.
      scopes: the name scope of each row, "" for none; empty where rows have none, or it was not kept.
      adds_up: the columns whose sum over some rows is what these have together, as bytes moved and unlike a peak.
    """

    name: str
    columns: Mapping[str, Column]
    reasons: Mapping[Place, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    marks: Mapping[Place, CellMark] = field(default_factory=dict)
    remarks: Mapping[Place, str] = field(default_factory=dict)
    texts: Mapping[Place, str] = field(default_factory=dict)
    scopes: Sequence[str] = ()
    adds_up: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.name, len(self)))

    def __len__(self) -> int:
        return max((len(column.values) for column in self.columns.values()), default=0)

    def __getitem__(self, name: str) -> Any:
        if name not in self.columns:
            raise KeyError(f"{name!r}: the {self.name} table has {', '.join(self.columns)}")
        return self.columns[name].values

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as plain Python values, None where unknown."""
        for row in range(len(self)):
            yield {name: plain(column.values[row]) for name, column in self.columns.items()}

    def figure(self, place: Place) -> Figure:
        """The figure of a cell."""
        row, name = place
        value = plain(self.columns[name].values[row])
        return Figure(value, self.reasons.get(place), self.remarks.get(place), self.texts.get(place, ""))

    def sorted_by(self, name: str, descending: bool = True) -> Table:
        """The rows in the order of one column, unknown ones last."""
        values = self[name]
        keyed = [(plain(value), row) for row, value in enumerate(values)]
        known = sorted((k for k in keyed if k[0] is not None), key=lambda k: k[0], reverse=descending)
        return self.take([row for _, row in known] + [row for value, row in keyed if value is None])

    def take(self, rows: Sequence[int]) -> Table:
        """Some rows, in the order given."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        taken = {row: place for place, row in enumerate(rows)}

        def moved(cells: Mapping[Place, Value]) -> dict[Place, Value]:
            return {(taken[row], name): value for (row, name), value in cells.items() if row in taken}

        cells: dict[str, Any] = {name: moved(getattr(self, name)) for name in ("reasons", "marks", "remarks", "texts")}
        scopes = tuple(self.scopes[row] for row in rows) if len(self.scopes) else ()
        return replace(self, columns=columns, scopes=scopes, **cells)

    def to_pandas(self, units: bool = True) -> Any:
        """A pandas.DataFrame, with units in the names of columns unless `units` is False.

        Unknown values are missing: <NA> among whole numbers, which stay whole. Raises ImportError, with the pip line,
        where pandas is missing.
        """
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        series = {}
        for name, column in self.columns.items():
            values = [plain(value) for value in column.values]
            dtype = "Int64" if column.is_whole or (None in values and _are_whole(values)) else None
            series[f"{name} ({column.unit})" if units and column.unit else name] = pandas.Series(values, dtype=dtype)
        return pandas.DataFrame(series)

    def to_json(self, limit: int | None = None, by: str = "", where: Where | None = None) -> str:
        """Versioned JSON: columns with their units, unknowns as null with their reasons. `from_json` reads it.

        With any argument, rows instead, which is what a program reads: each has an `id` that survives an edit (source
        line, scope and what it is, not the compiler's names), `values` by column, and the reasons of its `unknown`
        ones; `left_out` has how many rows are missing and their totals.

            ins.cost.table.to_json(limit=5, by="bytes read", where={"opcode": "fusion"})

        Args:
          limit: at most so many rows.
          by: the column whose order they have: numbers the most first, texts by the alphabet, unknown ones last.
          where: values by column: one, several in a list, None for unknown, or a function of the value.

        Raises ValueError, in one line with what exists, for an unknown column and for a limit below 1.
        """
        if limit is not None or by or where is not None:
            return json.dumps({"jaxstage": TABLE_VERSION, **table_rows.rows_form(self, limit, by, where)})
        data: dict[str, Any] = {
            "jaxstage": TABLE_VERSION,
            "table": self.name,
            "columns": {name: _column_json(column) for name, column in self.columns.items()},
            "reasons": [[row, name, reason] for (row, name), reason in self.reasons.items()],
            "notes": list(self.notes),
        }
        if self.adds_up:
            data["adds_up"] = list(self.adds_up)
        if self.marks:
            data["marks"] = [[row, name, mark.value] for (row, name), mark in self.marks.items()]
        for what in ("remarks", "texts"):
            if cells := getattr(self, what):
                data[what] = [[row, name, text] for (row, name), text in cells.items()]
        return json.dumps(data)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as an Arrow stream: pandas, polars, DuckDB and others read the table itself.

        Raises ImportError, with the pip line, where arro3 is missing.
        """
        return arrow_stream(self, requested_schema)

    @staticmethod
    def from_json(text: str) -> Table:
        """The table of a `to_json`. Raises ValueError for anything else."""
        try:
            data = json.loads(text)
            if data["jaxstage"] not in range(1, TABLE_VERSION + 1):
                raise ValueError(f"it has format {data['jaxstage']}, this JAXStage reads {TABLE_VERSION}")
            return Table(
                data["table"],
                {name: Column(**column) for name, column in data["columns"].items()},
                _cells(data["reasons"], str),
                tuple(data["notes"]),
                _cells(data.get("marks", ()), CellMark),
                _cells(data.get("remarks", ()), str),
                _cells(data.get("texts", ()), str),
                adds_up=tuple(map(str, data.get("adds_up", ()))),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a table saved by JAXStage: {text[:60]!r}: {error}") from error

    def __str__(self) -> str:
        return table_forms.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table_forms.html_of([self])

    def _repr_llm_(self) -> str:
        """At most 2 kB for language models: columns with units, the first rows, and the expressions that give more."""
        return table_brief(self)


def _cells(saved: Iterable[Any], of: Callable[[Any], Any]) -> dict[Place, Any]:
    return {(int(row), str(name)): of(value) for row, name, value in saved}


def _are_whole(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int) and not isinstance(value, bool) for value in known)


def _column_json(column: Column) -> dict[str, Any]:
    data: dict[str, Any] = {"unit": column.unit, "doc": column.doc, "values": [plain(value) for value in column.values]}
    data |= {"title": column.title} if column.title else {}
    data |= {} if column.lower_is_better is None else {"lower_is_better": column.lower_is_better}
    return data | {name: True for name in ("is_whole", "is_answer") if getattr(column, name)}
