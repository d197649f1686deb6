"""Compressed text and columns of a saved report: whole, within bounds, and nothing behind them."""

from __future__ import annotations

import base64
import zlib

import pytest

from jaxstage_ext.report.saved.json_form import BadForm
from jaxstage_ext.report.saved.packed_columns import compressed, decompressed

DATA = b"a text " * 100
PACKED = base64.b64decode(compressed(DATA))


def test_what_was_compressed_comes_back() -> None:
    assert decompressed(compressed(DATA), len(DATA), "too much") == DATA


@pytest.mark.parametrize(
    ("packed", "most", "said"),
    [
        (PACKED + b"!", len(DATA), "something follows compressed data"),
        (PACKED + zlib.compress(b""), len(DATA), "something follows compressed data"),
        (PACKED[:-1], len(DATA), "compressed data ends early"),
        (PACKED, len(DATA) - 1, "too much"),
        (b"!" + PACKED, len(DATA), "compressed data cannot be read"),
    ],
    ids=["a byte more", "two parts", "cut", "more than there may be", "damaged"],
)
def test_anything_else_is_refused(packed: bytes, most: int, said: str) -> None:
    with pytest.raises(BadForm, match=said):
        decompressed(base64.b64encode(packed).decode(), most, "too much")
