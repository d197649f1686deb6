"""The log keeps as many records as it may, and as many bytes of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jaxstage_ext.compilation.records.compile_log import CompileLog


def record(number: int, size: int = 30) -> Any:
    return SimpleNamespace(number=number, bytes=size)


@pytest.mark.parametrize(
    ("most", "most_bytes", "kept"), [(3, 1000, [7, 8, 9]), (100, 100, [7, 8, 9]), (2, 100, [8, 9]), (100, 29, [9])]
)
def test_the_newest_are_kept_within_both_limits(most: int, most_bytes: int, kept: list[int]) -> None:
    log = CompileLog(most, most_bytes)
    for number in range(10):
        log.add(record(number))
    assert [one.number for one in log] == kept
    assert log.dropped == 10 - len(kept)


def test_a_log_that_was_cleared_has_all_its_room_again() -> None:
    log = CompileLog(100, 100)
    log.add(record(0, 90))
    log.clear()
    for number in range(1, 4):
        log.add(record(number))
    assert [one.number for one in log] == [1, 2, 3]
