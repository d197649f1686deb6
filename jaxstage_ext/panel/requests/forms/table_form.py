"""A table as the front end takes it: numbers as columns, texts numbered, and why what is unknown is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxstage_ext.panel.pack import pack
from jaxstage_ext.panel.params import Answer
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.table import Column, Table, is_number, plain

NOTHING = "–"
"""In place of an empty text, which is known and says nothing."""
MOST_REASONS = 2000
"""Unknown values whose reason is sent."""


def packed(table: Table, titles: Mapping[str, str]) -> Answer:
    """The columns of a table that have a title, with what the front end needs to show them."""
    fields, strings, buffers = [], {}, []
    for name, title in titles.items():
        column = table.columns[name]
        numeric = any(is_number(value) for value in column.values)
        data, texts = _numbers(column) if numeric else _texts(column)
        fields.append(
            {"name": name, "title": title, "hint": column.doc, "unit": column.unit, "dtype": "f8" if numeric else "i4"}
        )
        strings[name] = texts
        buffers.append(pack(data))
    reasons = [[row, name, why] for (row, name), why in table.reasons.items() if name in titles][:MOST_REASONS]
    return {"length": len(table), "fields": fields, "strings": strings, "reasons": reasons}, buffers


def _numbers(column: Column) -> tuple[bytes, list[str]]:
    values = [plain(value) for value in column.values]
    return np.array([np.nan if value is None else value for value in values], "<f8").tobytes(), []


def _texts(column: Column) -> tuple[bytes, list[str]]:
    number = Numbering[str]()
    texts = (plain(value) for value in column.values)
    codes = [-1 if text is None else number[str(text) or NOTHING] for text in texts]
    return np.array(codes, "<i4").tobytes(), list(number)


def whole(values: Any) -> bytes:
    """Whole numbers as one more buffer."""
    return pack(np.array(values, "<i4").tobytes())
