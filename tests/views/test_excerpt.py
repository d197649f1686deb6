"""Chosen lines of a document, and how many are between them."""

from __future__ import annotations

import fakes
import pytest

from jaxstage_ext.report.document import document
from jaxstage_ext.views import excerpt

LINES = document("hlo", [f"line {number}" for number in range(1, 9)], fakes.frames())


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([2, 5], ["2 skipped", "line 3", "2 skipped", "line 6", "2 skipped"]),
        ([0, 1, 7], ["line 1", "line 2", "5 skipped", "line 8"]),
        ([], ["8 skipped"]),
    ],
)
def test_what_is_left_out_is_counted(rows: list[int], shown: list[str]) -> None:
    lines = excerpt.chosen(LINES, rows)
    assert [line.text or f"{line.skipped} skipped" for line in lines] == shown
    assert sum(line.skipped or 1 for line in lines) == len(LINES)
