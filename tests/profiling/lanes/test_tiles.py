"""Tiles of a timeline: nothing is lost, long events are exact, whatever the level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxstage_ext.profiling.lanes.event_styles import event_styles
from jaxstage_ext.profiling.lanes.lane_rows import lane_rows
from jaxstage_ext.profiling.lanes.tile_grid import BINS, TileGrid, tile_grid
from jaxstage_ext.profiling.lanes.tiles import COLUMNS, Segments, counter_segments, joined, lane_segments
from jaxstage_ext.report.recording import SECOND, CounterSeries, EventLane, LaneKind, Recording
from tests.helpers.recordings import Event, recording

FIRST = "Stream #1"


def drawn(made: Recording, level: int, tile: int, lane: int = 0) -> Segments:
    return lane_segments(made, lane_rows(made), event_styles(made), tile_grid(made), level, tile, lane)


def everywhere(made: Recording, level: int) -> Iterator[tuple[int, Segments]]:
    grid = tile_grid(made)
    for tile in range(-(-(grid.end - grid.base + 1) // (BINS * grid.bin(level)))):
        yield tile, drawn(made, level, tile)


def test_a_long_event_is_exact_and_short_ones_share_a_bin() -> None:
    made = recording(
        [
            Event(FIRST, "long", 0, 100),
            Event(FIRST, "a", 200, 0.05),
            Event(FIRST, "b", 200.06, 0.1),
            Event(FIRST, "end", 510, 2),
        ]
    )
    found = drawn(made, 0, 0)
    assert tile_grid(made).bin(0) == 2**20  # the least power of two that 512 of cover 512 us
    scale = 10**6 / 2**20
    assert found.left.tolist() == pytest.approx([0, 510 * scale, int(200 * scale)], rel=1e-5)
    assert found.right[:2].tolist() == pytest.approx([100 * scale, 512 * scale])
    assert found.count.tolist() == [1, 1, 2]
    assert found.busy[2] == np.ceil(0.15 * scale * 255)
    assert [getattr(found, name).dtype for name in COLUMNS] == [getattr(joined([]), name).dtype for name in COLUMNS]
    looks = event_styles(made)
    assert [made.names[looks.name[look]] for look in found.look] == ["long", "end", "b"]
    assert found.seconds[2] == pytest.approx(0.15e-6)


def test_times_far_from_the_origin_lose_nothing() -> None:
    day = 86_400 * 10**6
    made = recording([Event(FIRST, "first", day, 1), Event(FIRST, "late", day + 3600e6, 0.002)])
    grid = tile_grid(made)
    level = grid.levels - 3
    tile = (int(made.events.start[1]) - grid.base) // (BINS * grid.bin(level))
    found = drawn(made, level, tile)
    left = grid.start(level, tile) + float(found.left[0]) * grid.bin(level)
    assert left == made.events.start[1]


def test_nested_events_are_rows_of_their_lane() -> None:
    made = recording([Event(FIRST, "while", 0, 100), Event(FIRST, "dot", 10, 50), Event(FIRST, "add", 60, 40)])
    assert lane_rows(made).depth.tolist() == [0, 1, 1]
    assert drawn(made, 0, 0).row.tolist() == [0, 1, 1]


def test_events_that_do_not_nest_are_side_by_side() -> None:
    made = recording(
        [Event(FIRST, "a", 0, 10), Event(FIRST, "b", 5, 10), Event(FIRST, "c", 12, 2), Event(FIRST, "d", 12, 9)]
    )
    check_rows(made)


EVENTS = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 60), st.sampled_from(["dot", "add", "while"])),
    min_size=1,
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(EVENTS, st.integers(0, 6))
def test_every_event_and_every_picosecond_is_drawn_at_every_level(
    events: list[tuple[int, int, str]], level: int
) -> None:
    made = recording([Event(FIRST, name, start / 10, duration / 10) for start, duration, name in events])
    check_rows(made)
    level = min(level, tile_grid(made).levels - 1)
    length = tile_grid(made).bin(level)
    seen: set[int] = set()
    merged, busy = 0, 0.0
    for tile, found in everywhere(made, level):
        is_exact = (found.busy == 255) & (found.seconds * SECOND >= length * 0.999999)
        seen |= set(found.event[is_exact].tolist())
        merged += int(found.count[~is_exact].sum())
        busy += float(found.seconds[~is_exact].sum())
        for row in np.unique(found.row[is_exact]):
            left, right = found.left[is_exact & (found.row == row)], found.right[is_exact & (found.row == row)]
            assert (left[1:] >= right[:-1] - 1e-3).all(), tile
    is_long = made.events.duration >= length
    assert seen == set(np.flatnonzero(is_long).tolist())
    assert merged == (~is_long).sum()
    assert busy == pytest.approx(made.events.duration[~is_long].sum() / SECOND, rel=1e-5, abs=1e-15)


def check_rows(made: Recording) -> None:
    """The events of a row do not overlap, and each event is in one."""
    rows = lane_rows(made)
    assert sorted(rows.event.tolist()) == list(range(len(made.events)))
    for row in range(int(rows.first[-1])):
        part = slice(int(rows.offset[row]), int(rows.offset[row + 1]))
        assert (rows.start[part][1:] >= rows.end[part][:-1]).all()
        assert (made.events.lane[rows.event[part]] == np.searchsorted(rows.first, row, side="right") - 1).all()


def test_a_counter_holds_its_value_until_the_next_sample() -> None:
    times = np.array([0, 100, 101, 400], np.int64) * 10**6
    series = CounterSeries(0, "power", times, np.array([5.0, 7, 9, np.nan]), "W")
    found = counter_segments(series, TileGrid(0, 21, 512 * 2**20), 0, 0)
    assert found.left.tolist() == [0, 95, 96]
    assert found.right.tolist() == [95, 96, 512]
    assert found.seconds.tolist() == [5, 7, 9]


def test_nothing_recorded_draws_nothing() -> None:
    made = recording([], lanes=[EventLane("host", "main", LaneKind.HOST)])
    assert len(drawn(made, 0, 0)) == 0
