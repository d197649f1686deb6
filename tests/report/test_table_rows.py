"""A table is a sequence of its rows."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.report.table import Column, Table


def test_a_table_gives_its_rows_one_by_one() -> None:
    table = Table("t", {"a": Column(np.array([1, 2])), "b": Column(["x", None])})
    assert [row["b"] for row in table] == ["x", None]
    assert list(table) == list(table.rows())
