"""Processes in words. The oracle is how each was written by hand."""

from __future__ import annotations

import pytest

from jaxstage_ext.report.text.process_names import process_names, process_numbers

NAMED = {
    (3,): "process 3",
    (0, 1): "processes 0 and 1",
    (0, 1, 2, 3): "processes 0 to 3",
    (0, 2, 5): "processes 0, 2 and 5",
    (0, 1, 2, 5): "processes 0 to 2 and 5",
    (0, 1, 3, 7, 8, 9): "processes 0, 1, 3 and 7 to 9",
    tuple(range(0, 40, 2)): "processes 0, 2, 4, 6, 8, 10, 12, 14 and 12 more",
}


@pytest.mark.parametrize("indices", NAMED, ids=str)
def test_they_are_named(indices: tuple[int, ...]) -> None:
    assert process_names(indices) == NAMED[indices]


def test_numbers_alone_may_be_none_and_all_are_named_on_request() -> None:
    assert process_numbers(()) == "" and process_numbers((4,)) == "4"
    assert process_names(range(0, 40, 2), 20).endswith("36 and 38")
