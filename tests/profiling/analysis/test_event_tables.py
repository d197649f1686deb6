"""Tables of device work against a loop over every event and microsecond, on small recordings."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxstage_ext.profiling.op_places import OpPlaces, without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.frames import Frames, SourceFile
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind, Recording
from tests.helpers.recordings import Event, recording

OPS = ("dot.1", "tanh.2", "while.3", "all-reduce.4", "copy-start.5", "")
LINES = {"dot.1": 3, "tanh.2": 3, "while.3": 4, "all-reduce.4": 5}
ACTIVITY = {
    "dot.1": "compute", "tanh.2": "compute", "while.3": "control flow", "all-reduce.4": "collective",
    "copy-start.5": "copy", "": "compute",
}  # fmt: skip
THREADS = [EventLane("CPU", f"thread {i}", LaneKind.OPS) for i in range(3)]
Row = tuple[int, int, int, str, int]
EVENTS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(0, 12), st.sampled_from(OPS), st.integers(0, 1)),
    max_size=12,
)


def placed(made: Recording) -> OpPlaces:
    numbers = sorted(set(LINES.values()))
    zeros = np.zeros(len(numbers), np.int32)
    frames = Frames(
        (SourceFile("/home/user/train.py"),), ("step",), zeros, zeros, np.array(numbers, np.int32),
        zeros, zeros, zeros, zeros - 1, np.arange(len(numbers), dtype=np.int32),
    )  # fmt: skip
    frame = np.array([numbers.index(LINES[op]) if op in LINES else NONE for op in made.ops.name], np.int32)
    unknown = np.full(len(frame), NONE, np.int32)
    return OpPlaces(unknown, frame, np.zeros(len(frame), bool), unknown, unknown, frames)


def built(rows: list[Row]) -> tuple[list[Event], Timeline]:
    events = [
        Event(f"thread {lane}", op or "thunk", start, length, EventKind.OP, ("jit_f", op) if op else None, device)
        for lane, start, length, op, device in rows
    ]
    events.sort(key=lambda e: (e.lane, e.start, -e.duration))
    made = recording(events, THREADS)
    return events, Timeline(made, placed(made))


def ticks(event: Event) -> set[int]:
    return set(range(int(event.start), int(event.start + event.duration)))


def parents(events: list[Event]) -> list[int]:
    def above(i: int) -> int:
        own = events[i]
        for j in range(i - 1, -1, -1):
            end = events[j].start + events[j].duration
            if events[j].lane == own.lane and end >= own.start + own.duration and end > own.start:
                return j
        return NONE

    return [above(i) for i in range(len(events))]


def own_ticks(events: list[Event]) -> list[set[int]]:
    """What each event takes itself; a loop has nothing while its device runs anything else."""
    above = parents(events)
    own = []
    for i, event in enumerate(events):
        inside = [ticks(other) for j, other in enumerate(events) if above[j] == i]
        own.append(ticks(event) - set().union(*inside))
    loops = [event.name == "while.3" for event in events]
    for i, event in enumerate(events):
        if loops[i]:
            others = [own[j] for j, other in enumerate(events) if other.device == event.device and not loops[j]]
            own[i] = own[i] - set().union(*others)
    return own


def by(events: list[Event], key: str) -> dict[object, dict[str, float]]:
    """Count, summed self time and busy time of each group, in microseconds."""
    own = own_ticks(events)
    groups: dict[object, list[int]] = defaultdict(list)
    for i, event in enumerate(events):
        op = event.op[1] if event.op else None
        name = {"op": op, "line": f"train.py:{LINES[op]}" if op in LINES else None, "kernel": event.name}[key]
        groups[name].append(i)
    return {
        name: {
            "count": len(members),
            "self": sum(len(own[i]) for i in members),
            "busy": len({(events[i].device, tick) for i in members for tick in own[i]}),
        }
        for name, members in groups.items()
    }


@settings(max_examples=300, deadline=None)
@given(EVENTS)
def test_tables_are_those_of_a_loop_over_events(rows: list[Row]) -> None:
    events, timeline = built(rows)
    busy = len({(event.device, tick) for event in events for tick in ticks(event)})
    for key, table in (("op", timeline.by_op()), ("line", timeline.by_line()), ("kernel", timeline.by_kernel())):
        expected = by(events, key)
        assert set(table[key]) == set(expected)
        for row in table.rows():
            known = expected[row[key]]
            assert row["count"] == known["count"]
            assert row["self"] == pytest.approx(known["self"] * 1e-6)
            assert row["busy"] == pytest.approx(known["busy"] * 1e-6)
            assert row["share"] == (pytest.approx(known["busy"] / busy) if busy else None)


@settings(max_examples=300, deadline=None)
@given(EVENTS)
def test_busy_time_is_that_of_a_loop_over_microseconds(rows: list[Row]) -> None:
    events, timeline = built(rows)
    own = own_ticks(events)
    first = min((event.start for event in events), default=0)
    last = max((event.start + event.duration for event in events), default=0)
    table = timeline.busy()
    devices = sorted({event.device for event in events})
    assert len(table) == len(devices)
    for device, row in zip(devices, table.rows(), strict=True):
        mine = [event for event in events if event.device == device]
        work = set().union(*map(ticks, mine))
        sort: dict[str, set[int]] = defaultdict(set)
        for event, taken in zip(events, own, strict=True):
            if event.device == device:
                sort[ACTIVITY[event.op[1] if event.op else ""]] |= taken
        expected = {
            "window": last - first,
            "busy": len(work),
            "idle": last - first - len(work),
            "compute": len(sort["compute"]),
            "copy": len(sort["copy"]),
            "collective": len(sort["collective"]),
            "exposed copy": len(sort["copy"] - sort["compute"]),
            "exposed collective": len(sort["collective"] - sort["compute"]),
        }
        assert {name: row[name] for name in expected} == pytest.approx({k: v * 1e-6 for k, v in expected.items()})
        summed = sum(len(taken) for event, taken in zip(events, own, strict=True) if event.device == device)
        assert row["parallelism"] == (pytest.approx(summed / len(work)) if work else None)


@settings(max_examples=200, deadline=None)
@given(EVENTS, st.integers(-2, 25), st.integers(1, 25))
def test_a_range_has_what_is_inside_it(rows: list[Row], low: int, length: int) -> None:
    events, timeline = built(rows)
    part = timeline.between(low * 1e-6, (low + length) * 1e-6)
    window = set(range(low, low + length))
    clipped = {(event.device, tick) for event in events for tick in ticks(event) & window}
    assert part.work.busy_time == len(clipped) * 10**6
    assert all(time.length == length * 10**6 for time in part.device_times)
    assert (part.columns.start >= low * 10**6).all() and (part.columns.end <= (low + length) * 10**6).all()
    order = list(zip(part.columns.lane, part.columns.start, -part.columns.duration, strict=True))
    assert order == sorted(order)


@settings(max_examples=200, deadline=None)
@given(EVENTS)
def test_gaps_are_what_no_work_covers(rows: list[Row]) -> None:
    _, timeline = built(rows)
    gaps = timeline.gaps(1000)
    idle = timeline.busy()["idle"].sum() if len(timeline.busy()) else 0.0
    assert sum(gaps["duration"]) == pytest.approx(idle)
    assert list(gaps["duration"]) == sorted(gaps["duration"], reverse=True)
    for start, duration in zip(gaps["start"], gaps["duration"], strict=True):
        inside = start * 1e6 + 0.5, (start + duration) * 1e6 - 0.5
        assert inside[0] <= inside[1]
    assert set(gaps["host"]) <= {None}
    assert all((row, "host") in gaps.reasons for row in range(len(gaps)))


def test_where_a_device_has_kernels_its_ops_are_not_counted_too() -> None:
    ops = EventLane("GPU 0", "XLA Ops", LaneKind.OPS, 0)
    events = [
        Event("XLA Ops", "dot.1", 0, 10, EventKind.OP, ("jit_f", "dot.1")),
        Event("stream 1", "gemm", 1, 8, EventKind.KERNEL, ("jit_f", "dot.1")),
    ]
    made = recording(events, [ops])
    table = Timeline(made, without_places(made)).by_op()
    assert table["busy"].tolist() == pytest.approx([8e-6]) and table["count"].tolist() == [1]


def test_a_comparison_says_what_grew_per_step() -> None:
    def steps(number: int, dot: float) -> Timeline:
        events = [Event("stream 1", "gemm", 100 * i, dot, EventKind.KERNEL, ("jit_f", "dot.1")) for i in range(number)]
        events += [
            Event("stream 1", "k", 100 * i + 60, 5, EventKind.KERNEL, ("jit_f", "tanh.2")) for i in range(number)
        ]
        events += [Event("steps", f"step {i}", 100 * i, 100, EventKind.STEP) for i in range(number)]
        made = recording(events, [EventLane("GPU 0", "steps", LaneKind.STEPS, 0)])
        return Timeline(made, placed(made))

    table = steps(2, 20).compare(steps(5, 30), by="op")
    assert table["op"] == ["dot.1", "tanh.2"]
    assert table["change"] == pytest.approx([10e-6, 0]) and table["ratio"] == pytest.approx([1.5, 1])
    assert "2 steps before, 5 steps after" in table.notes[0]
    on_threads = built([(0, 0, 5, "dot.1", 0)])[1]
    with pytest.raises(ValueError, match="different quantities"):
        steps(1, 20).compare(on_threads)
    with pytest.raises(ValueError, match="'opcode'"):
        on_threads.compare(on_threads, by="opcode")


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, float("nan")), (float("-inf"), 1), (0, 1e300)])
def test_a_range_that_is_none_is_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="between"):
        built([])[1].between(*bounds)
