"""Buffers that Mosaic GPU kernels write, decoded: hand-made ones of which every time is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mosaic_buffers import TrueRange, TrueTrace, flat, records_of, written

from jaxstage_ext.profiling.mosaic.mosaic_recording import FACTS, decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import BufferLayout, MosaicSpec, TraceScope
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import EventKind, LaneKind, Loss, Recording, TimeUnit

NAMES = ("load", "mma", "store")
GHZ = 10**9


def spec(traces: int = 1, entries: int = 64, **fields: Any) -> MosaicSpec:
    return MosaicSpec(entries, NAMES, **{"grid": (1,), "block": (128 * traces,), **fields})


def shown(recording: Recording) -> list[tuple[str, str, str, int, int]]:
    """(SM, lane, name, start, duration) of each event, as shown."""
    events = recording.events
    return [
        (recording.lanes[lane].group, recording.lanes[lane].name, recording.names[name], start, duration)
        for lane, name, start, duration in zip(
            events.lane.tolist(),
            events.name.tolist(),
            events.start.tolist(),
            events.duration.tolist(),
            strict=True,
        )
    ]


def losses(recording: Recording) -> list[tuple[Loss, int | None, str]]:
    return [(lost.loss, lost.count, lost.where) for lost in recording.lost]


ONE = TrueTrace(5_000, 7, (TrueRange(1, 1_000, 3_000, (TrueRange(0, 1_500, 2_000),)),))


@pytest.mark.parametrize("header_counted", [False, True])
def test_nested_ranges_of_one_warpgroup_in_both_layouts(header_counted: bool) -> None:
    made = decode(written([ONE], 64, header_counted), spec(), sm_clock=2 * GHZ, overhead=0)
    assert shown(made) == [
        ("SM 7", "block 0, warpgroup 0", "mma", 0, 1_000_000),
        ("SM 7", "block 0, warpgroup 0", "load", 250_000, 250_000),
    ]
    assert made.lost == () and made.total == 2 and made.unit is TimeUnit.PICOSECOND
    assert made.title == "Mosaic GPU kernel, SM clock 2 GHz" and made.format == "mosaic"
    assert set(made.events.kind.tolist()) == {EventKind.RANGE} and made.lanes[0].kind is LaneKind.ON_DEVICE
    assert made.device_facts[FACTS]["layout"] == ("records and header" if header_counted else "records")
    assert made.details(1) == {
        "SM": 7,
        "block": 0,
        "warpgroup": 0,
        "depth": 1,
        "clock at begin": 1_500,
        "clock at end": 2_000,
        "left open": False,
    }


def test_what_recording_takes_is_subtracted_and_stated() -> None:
    """Four records a cycle more than 11 apart: 11 cycles for each earlier record."""
    made = decode(written([ONE], 64), spec(), sm_clock=GHZ)
    assert [(start, duration) for *_, start, duration in shown(made)] == [
        (0, (2_000 - 33) * 1_000),
        ((500 - 11) * 1_000, (500 - 11) * 1_000),
    ]
    facts = made.device_facts[FACTS]
    assert facts["overhead_cycles"] == 11 and facts["most_overhead_cycles"] == 33


def test_recording_takes_less_than_the_shortest_step() -> None:
    trace = TrueTrace(0, 0, (TrueRange(0, 100, 105), TrueRange(0, 200, 300)))
    made = decode(written([trace], 64), spec(), sm_clock=GHZ)
    assert made.device_facts[FACTS]["overhead_cycles"] == 4
    assert [(start, duration) for *_, start, duration in shown(made)] == [(0, 1_000), (92_000, 96_000)]


def test_without_a_clock_cycles_are_shown_as_cycles() -> None:
    other = TrueTrace(9_000, 3, (TrueRange(2, 50_000, 50_100),))
    made = decode(written([ONE, other], 64), spec(grid=(2,)), overhead=0)
    assert made.unit is TimeUnit.CYCLE and made.title == "Mosaic GPU kernel, in cycles of an unknown SM clock"
    assert shown(made) == [
        ("SM 3", "block 1, warpgroup 0", "store", 0, 100),
        ("SM 7", "block 0, warpgroup 0", "mma", 0, 2_000),
        ("SM 7", "block 0, warpgroup 0", "load", 500, 500),
    ]
    assert made.hosts == ("SM 3", "SM 7") and [lane.host for lane in made.lanes] == [0, 1]


def test_without_a_clock_blocks_of_one_sm_share_its_counter() -> None:
    later = TrueTrace(7_000, 7, (TrueRange(2, 2**32 + 400, 2**32 + 500),))
    first = TrueTrace(5_000, 7, (TrueRange(2, 2**32 - 100, 2**32 - 50),))
    made = decode(written([later, first], 64), spec(grid=(2,)), overhead=0)
    assert [item[1:] for item in shown(made)] == [
        ("block 0, warpgroup 0", "store", 500, 100),
        ("block 1, warpgroup 0", "store", 0, 50),
    ]


def test_warpgroups_of_a_block_stand_to_each_other_as_they_ran() -> None:
    """A consumer that records its first range 700 cycles after the producer is shown so, not at the block's start."""
    producer = TrueTrace(100, 0, (TrueRange(0, 1_000, 1_600),))
    consumer = TrueTrace(100, 0, (TrueRange(1, 1_700, 2_000),))
    made = decode(written([consumer, producer], 64), spec(2), sm_clock=GHZ, overhead=0)
    assert [(name, start) for _, _, name, start, _ in shown(made)] == [("mma", 700_000), ("load", 0)]


def test_lanes_are_by_sm_then_block_then_warpgroup() -> None:
    on = [TrueTrace(0, sm, (TrueRange(0, 0, 20),)) for sm in (9, 9, 2, 2)]
    made = decode(written(on, 16), spec(2, entries=16, grid=(1, 2)), sm_clock=GHZ)
    assert [(lane.group, lane.name) for lane in made.lanes] == [
        ("SM 2", "block 1, warpgroup 0"),
        ("SM 2", "block 1, warpgroup 1"),
        ("SM 9", "block 0, warpgroup 0"),
        ("SM 9", "block 0, warpgroup 1"),
    ]


def test_lanes_of_warps_and_of_a_wide_grid() -> None:
    on = [TrueTrace(0, 0, (TrueRange(0, 0, 20),))] * 8
    made = decode(written(on, 16), MosaicSpec(16, NAMES, (2, 1, 2), (64, 1, 1), TraceScope.WARP), sm_clock=GHZ)
    assert [lane.name for lane in made.lanes][:3] == [
        "block (0, 0), warp 0",
        "block (0, 0), warp 1",
        "block (0, 1), warp 0",
    ]


def test_warpgroups_that_recorded_nothing_have_no_lane() -> None:
    made = decode(written([ONE, TrueTrace(0, 7)], 64), spec(2), sm_clock=GHZ)
    assert len(made.lanes) == 1
    assert made.device_facts[FACTS]["traces"] == 2 and made.device_facts[FACTS]["traces_recorded"] == 1


def test_the_timer_wraps_between_two_blocks() -> None:
    early = TrueTrace(2**32 - 100, 0, (TrueRange(0, 0, 20),))
    late = TrueTrace(2**32 + 200, 1, (TrueRange(1, 0, 20),))
    made = decode(written([late, early], 16), spec(grid=(2,), entries=16), sm_clock=GHZ)
    assert [(name, start) for _, _, name, start, _ in shown(made)] == [("load", 0), ("mma", 300_000)]


def test_a_range_left_open_is_closed_with_the_lane_and_reported() -> None:
    whole = written([TrueTrace(0, 1, (TrueRange(0, 100, 900, (TrueRange(1, 200, 300),)),))], 64).copy()
    whole[2] = 6
    made = decode(whole, spec(), sm_clock=GHZ, overhead=0)
    assert [item[2:] for item in shown(made)] == [("load", 0, 200_000), ("mma", 100_000, 100_000)]
    assert losses(made) == [(Loss.UNMATCHED, 1, "SM 1, block 0, warpgroup 0")]
    assert made.details(0)["left open"] and not made.details(1)["left open"]


def test_an_inner_range_left_open_is_closed_with_the_one_around_it() -> None:
    words = [0, 1, 6, 0, 100, 1, 200, 2**31, 700] + [0] * 7
    made = decode(np.array(words, np.uint32), spec(entries=16), sm_clock=GHZ, overhead=0)
    assert [item[2:] for item in shown(made)] == [("load", 0, 600_000), ("mma", 100_000, 500_000)]
    assert losses(made) == [(Loss.UNMATCHED, 1, "SM 1, block 0, warpgroup 0")]


def test_an_exit_without_its_entry_is_left_out_and_reported() -> None:
    words = [0, 1, 6, 2**31 + 2, 100, 1, 200, 2**31 + 1, 700] + [0] * 7
    made = decode(np.array(words, np.uint32), spec(entries=16), sm_clock=GHZ, overhead=0)
    assert [item[2:] for item in shown(made)] == [("mma", 100_000, 500_000)]
    assert losses(made) == [(Loss.UNREADABLE, 1, "SM 1, block 0, warpgroup 0")] and made.total == 2


def test_names_that_the_profile_does_not_define() -> None:
    made = decode(written([TrueTrace(0, 1, (TrueRange(9, 0, 50), TrueRange(0, 60, 90)))], 64), spec(), sm_clock=GHZ)
    assert [item[2] for item in shown(made)] == ["unknown name 9", "load"]
    assert losses(made) == [(Loss.UNKNOWN_NAME, 1, "SM 1, block 0, warpgroup 0")]


def test_a_clock_that_goes_backwards_keeps_its_order_and_is_reported() -> None:
    words = [0, 1, 8, 0, 1_000, 2**31, 900, 1, 950, 2**31 + 1, 1_200] + [0] * 5
    made = decode(np.array(words, np.uint32), spec(entries=16), sm_clock=GHZ, overhead=0)
    assert [item[2:] for item in shown(made)] == [("load", 0, 1_000), ("mma", 2_000, 198_000)]
    assert losses(made) == [(Loss.BACKWARDS, 1, "SM 1, block 0, warpgroup 0")]


def test_a_buffer_without_room_keeps_what_fits_and_counts_the_rest() -> None:
    """16 words hold 6 records; the kernel made 8."""
    ranges = tuple(TrueRange(0, 100 * n, 100 * n + 50) for n in range(4))
    made = decode(written([TrueTrace(0, 1, ranges)], 16), spec(entries=16), sm_clock=GHZ, overhead=0)
    assert [start for *_, start, _ in shown(made)] == [0, 100_000, 200_000]
    assert losses(made) == [(Loss.OVERFULL, 1, "SM 1, block 0, warpgroup 0")] and made.total == 4


def test_a_trace_that_another_ran_over_is_left_out() -> None:
    """The first of two traces of a block filled 20 words where it has 16 in shared memory: 4 of the next."""
    long = TrueTrace(0, 1, tuple(TrueRange(0, 100 * n, 100 * n + 50) for n in range(5)))
    made = decode(written([long, TrueTrace(0, 1, (TrueRange(1, 0, 90),))], 16), spec(2, entries=16), sm_clock=GHZ)
    assert [item[1:3] for item in shown(made)] == [("block 0, warpgroup 0", "load")] * 3
    assert losses(made) == [
        (Loss.OVERFULL, 2, "SM 1, block 0, warpgroup 0"),
        (Loss.UNREADABLE, 1, "SM 1, block 0, warpgroup 1"),
    ]


def test_a_kernel_that_checks_bounds_runs_over_nothing_but_may_have_dropped_ranges() -> None:
    full = TrueTrace(0, 1, tuple(TrueRange(0, 100 * n, 100 * n + 50) for n in range(3)))
    made = decode(
        written([full, TrueTrace(0, 1, (TrueRange(1, 0, 90),))], 16),
        spec(2, entries=16, bounds_check=True),
        sm_clock=GHZ,
    )
    assert len(made.events) == 4 and losses(made) == [(Loss.OVERFULL, None, "SM 1, block 0, warpgroup 0")]


def test_an_odd_count_of_words_is_reported() -> None:
    words = written([TrueTrace(0, 1, (TrueRange(0, 0, 50),))], 16).copy()
    words[2] = 5
    made = decode(words, spec(entries=16, layout=BufferLayout.RECORDS), sm_clock=GHZ)
    assert len(made.events) == 1 and losses(made)[0] == (Loss.UNREADABLE, 1, "SM 1, block 0, warpgroup 0")


def test_a_layout_that_nothing_decides_is_asked_for() -> None:
    words = written([ONE, ONE], 64).copy()
    words[66] = 7
    with pytest.raises(UnreadableProfile, match=r"ambiguous: 1 of 2 traces .* BufferLayout.RECORDS "):
        decode(words, spec(2))
    for layout in BufferLayout:
        assert decode(words, spec(2, layout=layout)).lost


@pytest.mark.parametrize(
    ("buffer", "what"),
    [
        (np.zeros(63, np.uint32), "63 words"),
        (np.zeros(64, np.float32), "float32"),
        (np.zeros(64, np.uint64), "uint64"),
        (np.array([], np.uint32), "0 words"),
        (np.array(["a"] * 64), "<U1"),
    ],
)
def test_what_is_no_buffer_of_this_size(buffer: Any, what: str) -> None:
    with pytest.raises(UnreadableProfile, match=what):
        decode(buffer, spec())


@pytest.mark.parametrize("clock", [0, -1, 1.98, float("nan"), float("inf"), 1e15])
def test_a_clock_that_no_sm_has(clock: float) -> None:
    with pytest.raises(ValueError, match="hertz"):
        decode(written([ONE], 64), spec(), clock)


@pytest.mark.parametrize("fields", [{"block": (100,)}, {"grid": (0,)}, {"entries": 2}, {"block": (-128,)}])
def test_a_specification_that_cannot_be(fields: dict[str, Any]) -> None:
    with pytest.raises(UnreadableProfile):
        spec(**fields)


def test_signed_and_foreign_byte_orders_are_the_same_words() -> None:
    words = written([ONE], 64)
    for same in (words.view(np.int32), words.astype(">u4"), words.reshape(4, 16), words.tolist()):
        array = np.array(same, np.uint32) if isinstance(same, list) else same
        assert shown(decode(array, spec(), GHZ)) == shown(decode(words, spec(), GHZ))


def test_an_empty_buffer_has_no_events() -> None:
    made = decode(np.zeros(64, np.uint32), spec(), sm_clock=GHZ)
    assert len(made.events) == 0 and made.lanes == () and made.lost == ()


@st.composite
def true_ranges(draw: st.DrawFn, at: int, depth: int = 0) -> tuple[tuple[TrueRange, ...], int]:
    """Ranges after cycle `at`, and where the last one ends; steps up to nearly a whole turn of the counter.

    The first of a trace follows within a quarter of a turn, so that two traces of a block can be told to be so close.
    """
    step = st.one_of(st.integers(1, 50), st.integers(1, 2**32 - 2**20 - 1))
    ranges: list[TrueRange] = []
    for _ in range(draw(st.integers(0, 2 if depth < 2 else 0))):
        begin = at + draw(step if depth or ranges else st.integers(1, 2**30))
        inner, at = draw(true_ranges(begin, depth + 1))
        at += draw(step)
        ranges.append(TrueRange(draw(st.integers(0, 2)), begin, at, inner))
    return tuple(ranges), at


@st.composite
def true_traces(draw: st.DrawFn) -> list[TrueTrace]:
    start = draw(st.integers(0, 2**40))
    ends = []
    for block in range(draw(st.integers(1, 4))):
        counter = draw(st.integers(0, 2**34))
        for _ in range(2):
            ranges, _ = draw(true_ranges(counter))
            ends.append(TrueTrace(start + draw(st.integers(0, 2**31 - 1)), block, ranges))
    return ends


def expected(traces: list[TrueTrace], hertz: int) -> list[tuple[str, str, str, Fraction, Fraction]]:
    """The events in exact fractions of picoseconds, from the true numbers."""
    filled = [trace for trace in traces if trace.ranges]
    events = []
    for index, trace in enumerate(traces):
        block = [other for other in traces[index // 2 * 2 :][:2] if other.ranges]
        if not trace.ranges:
            continue
        anchor = min(block, key=lambda other: other.ranges[0].begin)
        zero = Fraction(1_000 * (anchor.timer - min(other.timer for other in filled)))
        for each, _ in flat(trace.ranges):
            begin = zero + Fraction((each.begin - anchor.ranges[0].begin) * 10**12, hertz)
            length = Fraction((each.end - each.begin) * 10**12, hertz)
            lane = f"block {index // 2}, warpgroup {index % 2}"
            events.append((f"SM {trace.sm}", lane, NAMES[each.name], begin, length))
    return events


@settings(max_examples=300, deadline=None)
@given(true_traces(), st.booleans(), st.sampled_from([GHZ, 1_980_000_000, 1_755_000_001]))
def test_exact_whatever_wraps(traces: list[TrueTrace], header_counted: bool, hertz: int) -> None:
    """Counters start anywhere, so each wraps at any record; the answer is in numbers that never do."""
    size = max(len(records_of(trace.ranges)) for trace in traces) * 2 + 3
    made = decode(written(traces, size, header_counted), spec(2, entries=size, grid=(len(traces) // 2,)), hertz, 0)
    assert made.lost == ()
    for got, true in zip(sorted(shown(made)), sorted(expected(traces, hertz)), strict=True):
        assert got[:3] == true[:3]
        assert abs(got[3] - true[3]) <= 1 and abs(got[4] - true[4]) <= 2
