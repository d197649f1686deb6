"""Work hides collectives: no second of it hides two, and as much is hidden as can be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxstage_ext.analysis.collectives.exposed_time import Exchange, hidden

SECONDS = {1: 10.0, 2: 20.0, 3: 5.0}


def exchange(seconds: float, *meanwhile: int) -> Exchange:
    return Exchange((100,), seconds, "", meanwhile)


@pytest.mark.parametrize(
    ("exchanges", "wanted"),
    [
        ([exchange(30, 1)], [10]),
        ([exchange(4, 1)], [4]),
        ([exchange(30)], [0]),
        ([exchange(30, 1), exchange(30, 1)], [10, 0]),
        ([exchange(6, 1), exchange(6, 1)], [6, 4]),
        ([exchange(10, 1, 2), exchange(10, 1)], [10, 10]),
        ([exchange(10, 1), exchange(10, 1, 2)], [10, 10]),
        ([exchange(25, 1, 2), exchange(25, 2, 3)], [25, 10]),
        ([exchange(30, 1, 2, 3), exchange(30, 2)], [15, 20]),
        ([exchange(math.nan, 1), exchange(30, 1)], [math.nan, 10]),
        ([exchange(30, 4)], [0]),
    ],
)
def test_seconds_hidden_counted_by_hand(exchanges: list[Exchange], wanted: list[float]) -> None:
    assert hidden(exchanges, SECONDS | {4: math.nan}) == pytest.approx(wanted, nan_ok=True)


SPANS = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9))


def most_hidden(spans: list[tuple[int, int, int]], work: list[int]) -> int:
    """The largest matching of units of work and of collectives, one augmenting path at a time."""
    ends = [number for number, (_, _, seconds) in enumerate(spans) for _ in range(seconds)]
    units = [row for row, seconds in enumerate(work) for _ in range(seconds)]
    taken: dict[int, int] = {}

    def matched(unit: int, tried: set[int]) -> bool:
        for place, number in enumerate(ends):
            first, last, _ = spans[number]
            if min(first, last) <= units[unit] <= max(first, last) and place not in tried:
                tried.add(place)
                if place not in taken or matched(taken[place], tried):
                    taken[place] = unit
                    return True
        return False

    return sum(matched(unit, set()) for unit in range(len(units)))


@given(st.lists(SPANS, max_size=5), st.lists(st.integers(0, 6), min_size=6, max_size=6))
def test_as_much_is_hidden_as_can_be(spans: list[tuple[int, int, int]], work: list[int]) -> None:
    exchanges = [exchange(s, *range(min(a, b), max(a, b) + 1)) for a, b, s in spans]
    parts = hidden(exchanges, {row: float(seconds) for row, seconds in enumerate(work)})
    assert sum(parts) == pytest.approx(most_hidden(spans, work))
    assert all(0 <= part <= seconds for part, (_, _, seconds) in zip(parts, spans, strict=True))
