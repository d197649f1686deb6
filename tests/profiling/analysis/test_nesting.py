"""Nesting and sets of time, against implementations that look at every picosecond."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxstage_ext.profiling.analysis import intervals
from jaxstage_ext.profiling.analysis.nesting import Nesting, nest
from jaxstage_ext.report.recording import NONE

EVENTS = st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 12), st.integers(0, 9)), max_size=16)
PAIRS = st.lists(st.tuples(st.integers(-5, 20), st.integers(0, 8)), max_size=10)
Rows = list[tuple[int, int, int]]


def nested(events: Rows) -> tuple[Rows, Nesting]:
    rows = sorted(events, key=lambda e: (e[0], e[1], -e[2]))
    lane, start, duration = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return rows, nest(lane.astype(np.int32), start, start + duration)


def parent(rows: Rows, event: int) -> int:
    """The last event before it in its lane that reaches as far."""
    lane, start, duration = rows[event]
    for other in range(event - 1, -1, -1):
        end = rows[other][1] + rows[other][2]
        if rows[other][0] == lane and end >= start + duration and end > start:
            return other
    return NONE


def ticks(rows: Rows, event: int) -> set[int]:
    return set(range(rows[event][1], rows[event][1] + rows[event][2]))


@settings(max_examples=300, deadline=None)
@given(EVENTS)
def test_nesting_is_that_of_a_search_of_each_event(events: Rows) -> None:
    rows, nesting = nested(events)
    parents = [parent(rows, event) for event in range(len(rows))]
    assert nesting.parent.tolist() == parents
    for event, above in enumerate(parents):
        assert nesting.depth[event] == (0 if above == NONE else nesting.depth[above] + 1)
        siblings = [e for e in range(event) if parents[e] == above and rows[e][0] == rows[event][0]]
        start, end = rows[event][1], rows[event][1] + rows[event][2]
        assert nesting.crosses[event] == any(rows[e][1] + rows[e][2] > start for e in siblings), (start, end)


@settings(max_examples=300, deadline=None)
@given(EVENTS)
def test_self_time_is_what_no_event_inside_covers(events: Rows) -> None:
    rows, nesting = nested(events)
    for event in range(len(rows)):
        inside = [ticks(rows, e) for e in range(len(rows)) if nesting.parent[e] == event]
        own = ticks(rows, event) - set().union(*inside)
        assert nesting.self_time[event] == len(own)
        parts = zip(*(column.tolist() for column in nesting.parts), strict=True)
        pieces = [range(start, end) for owner, start, end in parts if owner == event]
        assert sorted(tick for piece in pieces for tick in piece) == sorted(own)


def test_events_that_overlap_take_nothing_from_each_other() -> None:
    _, nesting = nested([(0, 0, 10), (0, 5, 10)])
    assert nesting.parent.tolist() == [NONE, NONE]
    assert nesting.self_time.tolist() == [10, 10]
    assert nesting.crosses.tolist() == [False, True]


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.array([pair[0] for pair in pairs], np.int64)
    return start, start + np.array([pair[1] for pair in pairs], np.int64)


def covered(pairs: list[tuple[int, int]]) -> set[int]:
    return {tick for start, length in pairs for tick in range(start, start + length)}


def ticks_of(given: intervals.Intervals) -> set[int]:
    pairs = list(zip(given.start.tolist(), given.end.tolist(), strict=True))
    assert all(start < end for start, end in pairs)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(pairs)), "they touch or overlap"
    return {tick for start, end in pairs for tick in range(start, end)}


@settings(max_examples=300, deadline=None)
@given(PAIRS, PAIRS, st.integers(-6, 20), st.integers(0, 20))
def test_sets_of_time_are_sets_of_picoseconds(
    one: list[tuple[int, int]], other: list[tuple[int, int]], low: int, length: int
) -> None:
    a, b = intervals.union(*columns(one)), intervals.union(*columns(other))
    assert ticks_of(a) == covered(one)
    assert ticks_of(intervals.intersection(a, b)) == covered(one) & covered(other)
    assert ticks_of(intervals.difference(a, b)) == covered(one) - covered(other)
    window = set(range(low, low + length))
    assert ticks_of(intervals.complement(a, low, low + length)) == window - covered(one)
    assert ticks_of(intervals.clipped(a, low, low + length)) == window & covered(one)
    held = intervals.overlap(*columns(other), a).tolist()
    assert held == [len(set(range(s, s + n)) & covered(one)) for s, n in other]


def test_a_union_by_group_is_exact_where_groups_times_time_exceed_64_bits() -> None:
    group = np.array([3_000_000, 0, 3_000_000, 1], np.int64)
    start = np.array([0, 5, 8 * 10**18, 4 * 10**18], np.int64)
    merged = intervals.union_by(group, start, start + 7)
    assert merged.owner.tolist() == [0, 1, 3_000_000, 3_000_000]
    assert (merged.end - merged.start).tolist() == [7, 7, 7, 7]
    steps = np.repeat(np.arange(40), 2)
    times = np.tile(np.array([0, 10**18], np.int64), 40)
    assert intervals.running_maximum(steps, times).tolist() == times.tolist()
