"""A table: text, JSON and pandas forms, unknown values with their reasons."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from jaxstage_ext.report.table import CellMark, Column, Table, cell


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


def marked() -> Table:
    columns = {
        "target": Column(["a", "b", "c"]),
        "fits": Column([True, None, False]),
        "size": Column([3, None, 5], "B", "bytes", "memory", lower_is_better=True),
        "registers": Column([None, None, None], is_whole=True),
    }
    places = {(0, "size"): CellMark.BEST, (2, "size"): CellMark.WORST}
    return Table("compare", columns, {(1, "size"): "not compiled"}, ("one device",), places, {(2, "size"): "estimated"})


def test_json_there_and_back() -> None:
    for before in (table(), marked(), Table("empty", {})):
        after = Table.from_json(before.to_json())
        assert after.to_json() == before.to_json()
        assert list(after.rows()) == list(before.rows())
    after = Table.from_json(marked().to_json())
    assert (after.reasons, after.marks, after.remarks) == (marked().reasons, marked().marks, marked().remarks)
    assert after.columns["size"] == marked().columns["size"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '{"jaxstage": 99}', '{"jaxstage": 2, "table": "x", "columns": {"a": 1}}', "x" * 9999],
)
def test_json_that_is_no_table_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="not a table saved by JAXStage") as caught:
        Table.from_json(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_marks_and_remarks_move_with_their_rows() -> None:
    ordered = marked().sorted_by("size")
    assert list(ordered["target"]) == ["c", "a", "b"]
    assert ordered.marks == {(1, "size"): CellMark.BEST, (0, "size"): CellMark.WORST}
    assert ordered.remarks == {(0, "size"): "estimated"}
    assert ordered.reasons == {(2, "size"): "not compiled"}


def test_whole_numbers_stay_whole_in_pandas() -> None:
    pytest.importorskip("pandas")
    frame = marked().to_pandas(units=False)
    assert list(frame.columns) == ["target", "fits", "size", "registers"]
    assert [str(frame[name].dtype) for name in ("size", "registers", "fits")] == ["Int64", "Int64", "object"]
    assert frame["size"].dropna().tolist() == [3, 5]


def test_a_share_is_written_in_tables_as_in_sentences() -> None:
    parts = [0.8797, 0.002, 0.998, 1.0, float("nan")]
    table = Table("shares", {"share": Column(parts), "ratio": Column(parts)})
    lines = [line.split() for line in str(table).splitlines()[1:]]
    assert [line[0] for line in lines] == ["88%", "<1%", "99.8%", "100%", "unknown"]
    assert lines[0][-1] == "0.8797" and ">88%<" in table._repr_html_()
    assert list(table["share"])[:2] == parts[:2]  # the value stays a number


def test_a_written_text_stands_for_its_value_in_every_form() -> None:
    """A lower bound is not the value: `at least`, as a loop of unknown length makes it."""
    written = Table("work", {"FLOPs": Column([1e9, 2e9], "FLOP")}, texts={(0, "FLOPs"): "at least 1 GFLOP"})
    assert str(written).splitlines()[1:] == ["at least 1 GFLOP", "         2 GFLOP"]
    assert ">at least 1 GFLOP<" in written._repr_html_()
    assert Table.from_json(written.to_json()).texts == written.texts
    assert written.take([1, 0]).figure((1, "FLOPs")).shown("FLOP") == "at least 1 GFLOP"
    assert written.figure((1, "FLOPs")).shown("FLOP") == "2 GFLOP"
