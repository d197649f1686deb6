"""Rows for programs: chosen, ordered and bounded, with units, reasons, ids, and what was left out."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.report.table import Column, Table

_SIZES = [5.0, math.nan, 2e9, 7.0]


def table(names: tuple[str, ...] = ("fusion.1", "fusion.2", "copy.9", "dot")) -> Table:
    return Table(
        "cost",
        {
            "instruction": Column(list(names)),
            "opcode": Column(["fusion", "fusion", "copy", "dot"]),
            "bytes": Column(np.array(_SIZES), "B", "moved"),
            "line": Column(["a.py:3", "a.py:3", "", "a.py:9"]),
        },
        {(1, "bytes"): "nobody says"},
        ("a note",),
        scopes=("mlp", "mlp", "", "head"),
        adds_up=("bytes",),
    )


def rows(of: Table, **choice: Any) -> dict[str, Any]:
    form: dict[str, Any] = json.loads(of.to_json(**choice))
    return form


def test_without_a_choice_it_is_the_form_of_columns() -> None:
    assert Table.from_json(table().to_json()) == table()
    assert "columns" in json.loads(table().to_json())


def test_what_was_left_out_is_counted_by_hand() -> None:
    form = rows(table(), limit=1, by="bytes")
    assert [row["values"]["instruction"] for row in form["rows"]] == ["copy.9"]
    assert form["left_out"] == {"rows": 3, "totals": {"bytes": {"known": 12.0, "unknown": 1}}}
    assert (form["of"], form["units"], form["notes"]) == (4, {"bytes": "B"}, ["a note"])


def test_an_unknown_value_is_null_with_its_reason_and_stands_last() -> None:
    last = rows(table(), by="bytes")["rows"][-1]
    assert last["values"]["bytes"] is None
    assert last["unknown"] == {"bytes": "nobody says"}


def test_rows_are_chosen_by_a_value_several_a_function_and_unknown() -> None:
    def names(**where: Any) -> list[str]:
        return [row["values"]["instruction"] for row in rows(table(), where=where)["rows"]]

    assert names(opcode="copy") == ["copy.9"]
    assert names(opcode=["copy", "dot"]) == ["copy.9", "dot"]
    assert names(bytes=lambda size: size > 6) == ["copy.9", "dot"]
    assert names(bytes=None) == ["fusion.2"]
    assert names(scope="mlp", opcode="fusion") == ["fusion.1", "fusion.2"]


def test_ids_are_of_the_line_the_scope_and_the_kind_and_survive_other_names() -> None:
    ids = [row["id"] for row in rows(table(), limit=9)["rows"]]
    assert ids == ["a.py:3 mlp fusion", "a.py:3 mlp fusion #2", "copy", "a.py:9 head dot"]
    renamed = table(("fusion.77", "wrapped", "copy_bitcast", "dot.4"))
    assert [row["id"] for row in rows(renamed, limit=9)["rows"]] == ids
    assert [row["id"] for row in rows(table(), where={"bytes": None})["rows"]] == ["a.py:3 mlp fusion #2"]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"by": "bytez"}, "'bytez' is not a column of the cost table; it has instruction, opcode, bytes, line, scope"),
        ({"where": {"no\nsuch": 1}}, r"'no\nsuch' is not a column of the cost table"),
        ({"where": "opcode=copy"}, "where takes values by column"),
        *(({"limit": limit}, "limit must be a whole number from 1 on") for limit in (0, -1, True, 1.5, "3")),
    ],
)
def test_a_mistake_is_one_line_that_says_what_there_is(choice: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        table().to_json(**choice)
    assert said in str(caught.value)


def test_where_no_row_fits_it_says_which_values_there_are() -> None:
    form = rows(table(), where={"opcode": "all-gather"})
    assert form["rows"] == []
    assert "'fusion'" in form["notes"][-1] and "'copy'" in form["notes"][-1]


def test_a_hostile_name_stays_data_and_short() -> None:
    hostile = "<script>\x1b[2J\x00" + "n" * 1_000_000
    text = table((hostile, "b", "c", "d")).to_json(limit=1)
    assert len(text) < 4000
    assert json.loads(text)["rows"][0]["values"]["instruction"].startswith("<script>")


def test_the_order_of_rows_kept_of_a_table_keeps_scopes() -> None:
    assert table().take([3, 0]).scopes == ("head", "mlp")


def test_arrow_without_arro3_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arro3", None)
    with pytest.raises(ImportError, match="pip install arro3-core"):
        table().__arrow_c_stream__()


def test_arrow_is_read_by_another_library_with_units_and_nulls() -> None:
    core = pytest.importorskip("arro3.core")
    read = core.Table.from_arrow(table())
    assert [value.as_py() for value in read["bytes"]] == [5.0, None, 2e9, 7.0]
    assert read.schema.field("bytes").metadata[b"unit"] == b"B"
