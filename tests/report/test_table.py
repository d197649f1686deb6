"""A table: text, JSON and pandas forms, unknown values with their reasons."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from jaxstage_ext.report.table import Column, Table, cell, scaled


def table() -> Table:
    return Table(
        "cost",
        {"name": Column(["a", "<b>", "c"]), "bytes": Column(np.array([5.0, math.nan, 2e9]), "B", "moved")},
        {(1, "bytes"): "nobody says"},
        ("a note",),
    )


def test_text() -> None:
    lines = str(table()).splitlines()
    assert lines[0].split() == ["name", "bytes"]
    assert lines[2].split() == ["<b>", "unknown"]
    assert lines[3].split() == ["c", "2", "GB"]
    assert lines[-1] == "a note"


def test_rows_are_plain_and_unknown_is_none() -> None:
    assert list(table().rows())[1] == {"name": "<b>", "bytes": None}


def test_sorting_keeps_reasons_and_puts_unknown_last() -> None:
    ordered = table().sorted_by("bytes")
    assert [row["name"] for row in ordered.rows()] == ["c", "a", "<b>"]
    assert ordered.reasons == {(2, "bytes"): "nobody says"}


def test_json_holds_units_and_reasons() -> None:
    data = json.loads(table().to_json())
    assert data["columns"]["bytes"] == {"unit": "B", "doc": "moved", "values": [5.0, None, 2e9]}
    assert data["reasons"] == [[1, "bytes", "nobody says"]]


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = table().to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["name", "bytes (B)"]
    assert frame["bytes (B)"].isna().tolist() == [False, True, False]


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="the cost table has name, bytes"):
        table()["size"]


def test_an_empty_table() -> None:
    assert str(Table("cost", {"name": Column([])})) == "no cost"
    assert len(Table("cost", {})) == 0


def test_long_tables_are_cut() -> None:
    assert str(Table("n", {"i": Column(np.arange(100))})).endswith("and 70 more rows")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(0.0, "B", "0 B"), (999.9, "B", "1 kB"), (2.5e-6, "s", "2.5 µs"), (1234, "", "1,234"), (None, "B", "unknown")],
)
def test_cells(value: object, unit: str, text: str) -> None:
    assert cell(value, unit) == text


def test_scaled() -> None:
    assert [scaled(s, "s") for s in (10.0, 1.0, 0.0125)] == ["10 s", "1 s", "12.5 ms"]
    assert scaled(1.5e12, "FLOP") == "1.5 TFLOP"
