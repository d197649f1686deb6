"""The targets of one call side by side: a Table, and its form in the summary and in saved reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jaxstage_ext.program.comparing.comparison_columns import COLUMNS, ESTIMATE
from jaxstage_ext.program.comparing.comparison_form import ComparedCell, ComparedColumn, ComparisonForm
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.table import CellMark, Column, Place, Table, cell


@dataclass(frozen=True)
class TargetFigures:
    """One target: its name, what that is, its figures by column, and the error in one line where a stage failed."""

    target: str
    device: str
    figures: Mapping[str, Figure]
    error: str | None = None
    looked_up: frozenset[str] = frozenset()
    """Figures that are those of an earlier compile, which a cache had kept: they are not ranked."""


@dataclass(frozen=True, eq=False)
class Comparison(Table):
    """One row a target: "target", "device", the figures of `COLUMNS`, and "error" where a stage failed."""

    headline: str = ""
    """What is worse, by how much, because of which line; "" where nothing can be said."""

    @classmethod
    def of(cls, name: str, rows: Sequence[TargetFigures], headline: str = "") -> Comparison:
        """The table of a call's targets, with the best and the worst of each column marked."""
        figures = {name: [row.figures[name] for row in rows] for name in COLUMNS}
        if all(figure.value is None for figure in figures[ESTIMATE]):
            del figures[ESTIMATE]
        columns = {
            "target": Column([row.target for row in rows]),
            "device": Column([row.device for row in rows]),
            **{name: replace(COLUMNS[name], values=[f.value for f in of]) for name, of in figures.items()},
            "error": Column([row.error for row in rows]),
        }
        cells = {(row, name): figure for name, column in figures.items() for row, figure in enumerate(column)}
        return cls(
            name,
            columns,
            {place: figure.reason for place, figure in cells.items() if figure.reason is not None},
            marks=_marks(columns, cells, {(at, name) for at, row in enumerate(rows) for name in row.looked_up}),
            remarks={place: figure.remark for place, figure in cells.items() if figure.remark is not None},
            texts={place: figure.text for place, figure in cells.items() if figure.text},
            headline=headline,
        )

    @property
    def figure_names(self) -> list[str]:
        """The columns that hold figures."""
        return [name for name in self.columns if name not in ("target", "device", "error")]

    def to_pandas(self, units: bool = False) -> Any:
        """A pandas.DataFrame, one row a target; unknown figures are missing. Raises ImportError without pandas."""
        return super().to_pandas(units).drop(columns="device").set_index("target")

    def to_dict(self) -> ComparisonForm:
        """The table as plain JSON types, as the front end and saved reports have it; `from_dict` reads it."""
        made: ComparisonForm = {
            "name": self.name,
            "columns": [_column_dict(name, self.columns[name]) for name in self.figure_names],
            "rows": [
                {
                    "target": row["target"],
                    "device": row["device"],
                    "error": row["error"],
                    "cells": {name: self._cell((at, name)) for name in self.figure_names},
                }
                for at, row in enumerate(self.rows())
            ],
        }
        return {**made, "headline": self.headline} if self.headline else made

    def _cell(self, place: Place) -> ComparedCell:
        figure, mark = self.figure(place), self.marks.get(place)
        facts = {"reason": figure.reason, "note": figure.remark, "mark": mark.value if mark else None}
        shown = {"value": figure.value, "text": figure.shown(self.columns[place[1]].unit)}
        return cast(ComparedCell, shown | {name: fact for name, fact in facts.items() if fact})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """The Comparison of a `to_dict`. Raises KeyError, TypeError, ValueError or AttributeError for anything else."""
        rows, columns = data["rows"], {str(column["name"]): column for column in data["columns"]}
        cells = {(at, name): row["cells"][name] for name in columns for at, row in enumerate(rows)}

        def given(what: str) -> dict[Place, Any]:
            return {place: cell[what] for place, cell in cells.items() if cell.get(what)}

        return cls(
            str(data["name"]),
            {
                "target": Column([str(row["target"]) for row in rows]),
                "device": Column([str(row["device"]) for row in rows]),
                **{
                    name: _column(name, column, [cells[at, name]["value"] for at in range(len(rows))])
                    for name, column in columns.items()
                },
                "error": Column([row["error"] for row in rows]),
            },
            given("reason"),
            marks={place: CellMark(mark) for place, mark in given("mark").items()},
            remarks=given("note"),
            texts={
                (at, name): str(shown["text"])
                for (at, name), shown in cells.items()
                if shown["text"] != cell(shown["value"], COLUMNS[name].unit if name in COLUMNS else "")
            },
            headline=str(data.get("headline", "")),
        )


def _column_dict(name: str, column: Column) -> ComparedColumn:
    return {
        "name": name,
        "title": column.title,
        "hint": column.doc,
        "lower": column.lower_is_better,
        "unit": column.unit,
    }


def _column(name: str, saved: Mapping[str, Any], values: list[Any]) -> Column:
    unit = COLUMNS[name].unit if name in COLUMNS else ""
    return Column(values, unit, saved["hint"], saved["title"], saved["lower"])


def _marks(
    columns: Mapping[str, Column], cells: Mapping[Place, Figure], looked_up: set[Place]
) -> dict[Place, CellMark]:
    """The best and the worst of each column, where known values differ as shown.

    Those that are partly known do not compare, nor do those that were looked up.
    """
    marks: dict[Place, CellMark] = {}
    for name, column in columns.items():
        known = {
            row: float(value)
            for row, value in enumerate(column.values)
            if value is not None
            and column.lower_is_better
            and not cells[row, name].text
            and (row, name) not in looked_up
        }
        if len({cell(column.values[row], column.unit) for row in known}) < 2:
            continue
        best, worst = min(known.values()), max(known.values())
        extremes = {best: CellMark.BEST, worst: CellMark.WORST}
        marks |= {(row, name): extremes[value] for row, value in known.items() if value in extremes}
    return marks
