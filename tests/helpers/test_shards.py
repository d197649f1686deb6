"""Two halves of a suite are all of it, and about as long as each other."""

from __future__ import annotations

from pathlib import Path

import file_seconds
import shards

TESTS = Path(__file__).parents[1]


def test_each_file_is_in_one_half() -> None:
    first, second = shards.mine("1/2"), shards.mine("2/2")
    assert first is not None and second is not None
    there = {path for path in TESTS.rglob("test_*.py") if path.parts[len(TESTS.parts)] not in shards.ELSEWHERE}
    assert first | second == there
    assert not first & second


def test_the_halves_take_about_as_long() -> None:
    known = file_seconds.known()
    taken = [
        sum(known.get(str(path.relative_to(TESTS)), 0.0) for path in shards.mine(half) or ()) for half in ("1/2", "2/2")
    ]
    assert min(taken) > 0.9 * max(taken)


def test_the_longest_file_comes_first_and_one_without_seconds_is_a_middling_one() -> None:
    seconds = {"a": 9.0, "b": 1.0, "c": 2.0}
    assert shards.dealt(seconds, ["new", *seconds], 2) == [["a"], ["c", "new", "b"]]
    assert shards.dealt({}, ["x", "y"], 2) == [["x"], ["y"]]


def test_without_a_shard_all_files_are_ours() -> None:
    assert shards.mine("") is None
