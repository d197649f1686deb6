"""The headline of programs that are built to have one answer: recordings made by hand, with every number known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.analysis.headline import Bound
from jaxstage_ext.profiling.analysis.host_activity import HostCause
from jaxstage_ext.profiling.op_places import OpPlaces, without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.frames import Frames, SourceFile
from jaxstage_ext.report.recording import (
    NONE,
    EventKind,
    EventLane,
    HostLine,
    LaneKind,
    Loss,
    Lost,
    Recording,
    TimeUnit,
)
from tests.helpers.recordings import Event, recording

USER = "/home/user/train.py"
HOST = EventLane("host", "python", LaneKind.PYTHON)
RUNTIME = EventLane("host", "main", LaneKind.HOST)


def host(name: str, start: float, duration: float, kind: EventKind = EventKind.PYTHON) -> Event:
    lane = "python" if kind is EventKind.PYTHON else "main"
    return Event(lane, name, start, duration, kind, device=NONE, run=NONE)


def kernel(op: str, start: float, duration: float, lane: str = "stream 1", kind: EventKind = EventKind.KERNEL) -> Event:
    return Event(lane, op, start, duration, kind, op=("jit_step", op))


def copy(name: str, start: float, duration: float) -> Event:
    return Event("copies", name, start, duration, EventKind.COPY)


def timeline(events: list[Event], lines: dict[str, int] | None = None, code: dict[str, str] | None = None) -> Timeline:
    """Lines by op, in train.py; `code` is the text of the lines of Python that host events stand for."""
    made = recording(events, [HOST, RUNTIME])
    sources = {
        made.names.index(name): HostLine(USER, 20 + number, "main", text)
        for number, (name, text) in enumerate((code or {}).items())
    }
    made = Recording(**{**vars(made), "host_lines": sources})
    return Timeline(made, places(made, lines or {}))


def places(made: Recording, lines: dict[str, int]) -> OpPlaces:
    numbers = sorted(set(lines.values()))
    size = len(numbers)
    zeros = np.zeros(size, np.int32)
    frames = Frames(
        (SourceFile(USER),), ("step",), zeros, zeros, np.array(numbers, np.int32), zeros, zeros, zeros,
        zeros - 1, np.arange(size, dtype=np.int32),
    )  # fmt: skip
    frame = np.array([numbers.index(lines[op]) if op in lines else NONE for op in made.ops.name], np.int32)
    none = np.full(len(frame), NONE, np.int32)
    return OpPlaces(none, frame, np.zeros(len(frame), bool), none, none, frames)


def shown(built: Timeline) -> tuple[str, float, float]:
    """The line of the most busy time, its share, and the share of the time in which the device idles."""
    headline = built.headline
    return headline.line, round(headline.line_share, 2), round(headline.idle, 2)


def host_does(built: Timeline) -> tuple[HostCause, str, str]:
    """What the host does, its line, and the text of that."""
    headline = built.headline
    return headline.doing.cause, headline.host_line, headline.doing.line.code if headline.doing.line else ""


def said(built: Timeline) -> str:
    return timeline_wording.sentence(built.headline)


def test_device_bound() -> None:
    built = timeline([kernel("dot.1", 0, 62), kernel("tanh.2", 62, 38)], {"dot.1": 7, "tanh.2": 8})
    assert built.headline.bound is Bound.DEVICE
    assert shown(built) == ("train.py:7", 0.62, 0)
    assert all(figure in said(built) for figure in ("train.py:7", "62%"))


def test_host_bound() -> None:
    """The device works 10 of every 100 µs; the host prepares in between."""
    events = [kernel("dot.1", 100 * i, 10) for i in range(10)]
    events += [host("prepare", 100 * i + 10, 85) for i in range(9)]
    built = timeline(events, {"dot.1": 7}, {"prepare": "batch = prepare(batch)"})
    headline = built.headline
    assert headline.bound is Bound.HOST
    assert headline.idle == pytest.approx(9 * 90 / 910) and headline.doing.share == pytest.approx(85 / 90)
    assert shown(built) == ("train.py:7", 1, 0.89)
    assert host_does(built) == (HostCause.LINE, "train.py:20", "batch = prepare(batch)")
    assert all(figure in said(built) for figure in ("89%", "train.py:20", "batch = prepare(batch)"))


def test_input_bound() -> None:
    """The line that asks the iterator covers all of the generator's lines, of which none covers half."""
    events = [kernel("dot.1", 0, 62), kernel("dot.1", 90, 10)]
    events += [host("loop", 0, 100), host("next", 63, 26), host("draw", 63, 13), host("cast", 76, 13)]
    code = {"loop": "train()", "next": "batch = next(batches)", "draw": "x = draw()", "cast": "yield cast(x)"}
    built = timeline(events, {"dot.1": 7}, code)
    assert built.headline.doing.is_input and built.headline.doing.share == pytest.approx(26 / 28)
    assert shown(built)[2] == 0.28
    assert host_does(built) == (HostCause.LINE, "train.py:21", "batch = next(batches)")
    longer = [kernel("dot.1", 0, 20), kernel("dot.1", 90, 10), host("next", 20, 70)]
    assert timeline(longer, {"dot.1": 7}, {"next": "batch = next(batches)"}).headline.bound is Bound.INPUT


def test_copy_bound() -> None:
    built = timeline([kernel("dot.1", 0, 40), copy("MemcpyH2D", 30, 70)], {"dot.1": 7})
    headline = built.headline
    assert headline.bound is Bound.COPY and headline.exposed_copy == pytest.approx(0.6)
    assert headline.line_share == pytest.approx(0.4) and headline.attributed == pytest.approx(40 / 110)
    assert headline.idle == 0 and all(figure in said(built) for figure in ("train.py:7", "40%", "60%", "64%"))


def test_collective_bound() -> None:
    """Of 80 µs of all-reduce, 20 run beside compute."""
    nccl = kernel("all-reduce.2", 20, 80, "stream 2", EventKind.COLLECTIVE)
    built = timeline([kernel("dot.1", 0, 40), nccl], {"dot.1": 7, "all-reduce.2": 9})
    assert built.headline.bound is Bound.COLLECTIVE
    assert shown(built) == ("train.py:9", 0.8, 0)
    assert built.headline.exposed_collective == pytest.approx(0.6) and "60%" in said(built)


def test_a_collective_in_a_loop_is_not_hidden_by_the_loop() -> None:
    inside = [kernel("dot.2", 0, 30, kind=EventKind.OP), kernel("all-reduce.3", 30, 70, kind=EventKind.OP)]
    built = timeline([kernel("while.1", 0, 100, kind=EventKind.OP), *inside], {})
    assert built.headline.exposed_collective == pytest.approx(0.7)
    assert built.headline.bound is Bound.COLLECTIVE


def test_one_long_kernel() -> None:
    built = timeline([kernel("custom-call.1", 5, 10_000)], {"custom-call.1": 3})
    assert (built.headline.bound, shown(built)) == (Bound.DEVICE, ("train.py:3", 1, 0))


def test_ten_thousand_short_kernels() -> None:
    events = [kernel("add.1", 5 * i, 1) for i in range(10_000)]
    events += [host("cuLaunchKernel", 5 * i + 1, 4, EventKind.LAUNCH) for i in range(10_000)]
    built = timeline(events, {"add.1": 3})
    headline = built.headline
    assert headline.bound is Bound.LAUNCH and headline.gaps == headline.short_gaps == 9999
    assert shown(built) == ("train.py:3", 1, 0.8) and headline.typical_gap == pytest.approx(4e-6)
    assert (headline.doing.cause, headline.doing.name) == (HostCause.LAUNCH, "cuLaunchKernel")
    assert headline.doing.share > 0.5
    assert all(figure in said(built) for figure in ("80%", "9,999", "4 µs", "cuLaunchKernel"))


def test_compiling_within_the_window() -> None:
    events = [kernel("dot.1", 0, 10), kernel("dot.1", 90, 10), host("compile", 12, 76, EventKind.COMPILE)]
    built = timeline([*events, host("step", 0, 100)], {"dot.1": 7}, {"step": "y = step(x)"})
    assert built.headline.bound is Bound.COMPILE and built.headline.doing.cause is HostCause.COMPILE
    assert (shown(built)[2], built.headline.host_line) == (0.8, "train.py:20")


def test_nothing_recorded() -> None:
    built = timeline([])
    assert built.headline.bound is Bound.NOTHING
    assert said(built) == timeline_wording.NO_DEVICE_WORK
    assert timeline_wording.coverage(0, 0, 0, has_work=False) in str(built)
    only_host = timeline([host("sleep", 0, 100)], code={"sleep": "time.sleep(1)"})
    assert only_host.headline.bound is Bound.NOTHING


@pytest.mark.parametrize("loss", [Loss.CUT, Loss.DROPPED, Loss.UNREADABLE])
def test_where_events_are_missing_nothing_is_not_said_to_have_run(loss: Loss) -> None:
    made = recording([host("sleep", 0, 100)], [HOST, RUNTIME], [Lost(loss, 16)])
    built = Timeline(made, without_places(made))
    assert built.headline.bound is Bound.CUT
    assert said(built) == timeline_wording.NO_DEVICE_WORK_KEPT


def test_nothing_attributable() -> None:
    """No op, no line, no host event: what is not known is not claimed."""
    events = [
        Event("stream 1", "kernel_a", 0, 30, EventKind.KERNEL),
        Event("stream 1", "kernel_b", 90, 10, EventKind.KERNEL),
    ]
    built = timeline(events)
    assert built.headline.bound is Bound.IDLE
    headline = built.headline
    assert (headline.line, headline.op, headline.op_share, headline.idle) == ("", "kernel_a", 0.75, pytest.approx(0.6))
    assert headline.doing.cause is HostCause.UNKNOWN and all(
        figure in said(built) for figure in ("kernel_a", "75%", "60%")
    )


def test_what_covers_little_of_the_idle_time_does_not_explain_it() -> None:
    events = [kernel("dot.1", 0, 10), kernel("dot.1", 90, 10), host("log", 10, 7)]
    built = timeline(events, {"dot.1": 7}, {"log": "log(step)"})
    assert built.headline.doing.cause is HostCause.UNKNOWN
    some = timeline([*events[:2], host("log", 10, 24)], {"dot.1": 7}, {"log": "log(step)"})
    assert host_does(some) == (HostCause.LINE, "train.py:20", "log(step)")
    assert (shown(some)[2], some.headline.doing.share) == (0.8, pytest.approx(0.3)) and "30%" in said(some)


def test_the_window_is_that_of_the_steps() -> None:
    """A run before the first step warms up; work that the last step starts belongs to it."""
    steps = [host("train 0", 100, 40, EventKind.STEP), host("train 1", 140, 40, EventKind.STEP)]
    built = timeline([kernel("dot.1", 0, 50), kernel("dot.1", 110, 30), kernel("dot.1", 150, 50), *steps], {"dot.1": 7})
    [time] = built.device_times
    assert time.window == (100 * 10**6, 200 * 10**6)
    assert time.work.total == 80 * 10**6
    assert built.steps()["duration"].tolist() == pytest.approx([40e-6, 40e-6])
    assert built.steps()["busy"].tolist() == pytest.approx([30e-6, 30e-6])


def in_steps(calls: int, busy: float) -> Timeline:
    """Two steps of 1,000 µs each, of so many runs of one program."""
    steps = [host(f"train {n}", 1000 * n, 1000, EventKind.STEP) for n in range(2)]
    gap = 1000 / calls
    runs = [replace(kernel("dot.1", gap * n, gap * busy), run=n) for n in range(2 * calls)]
    return timeline([*runs, *steps], {"dot.1": 7})


def test_a_program_that_each_step_calls_many_times() -> None:
    """Of a loop in Python each call takes longer than its work; of few calls, or of a busy device, nothing is said."""
    built = in_steps(50, 0.1)
    assert (built.headline.repeated, built.headline.calls) == ("step", 50)
    assert "calls step 50 times" in said(built)
    assert not in_steps(10, 0.1).headline.repeated
    assert "times from Python" not in said(in_steps(50, 0.9))


def test_ranges_with_hardware_counters_are_not_those_of_warps() -> None:
    lanes = [
        EventLane("GPU 0", "Thread 0 (counted ranges)", LaneKind.COUNTED, 0),
        EventLane("host", "thread 1", LaneKind.HOST),
    ]
    events = [
        Event("Thread 0 (counted ranges)", "gemm", 0, 50, EventKind.RANGE),
        Event("thread 1", "step", 0, 90, EventKind.RANGE),
    ]
    made = recording(events, lanes)
    assert said(Timeline(made, places(made, {}))) == timeline_wording.NO_DEVICE_WORK


def test_ranges_inside_a_kernel_are_no_device_work() -> None:
    """Two warpgroups: 30 and 10 µs of `mma` inside 50 and 50 µs of `body`."""
    lanes = [EventLane("SM 0", f"warpgroup {i}", LaneKind.ON_DEVICE, 0) for i in range(2)]
    events = [Event(f"warpgroup {i}", "body", 0, 50, EventKind.RANGE) for i in range(2)]
    events += [Event(f"warpgroup {i}", "mma", 5, length, EventKind.RANGE) for i, length in enumerate((30, 10))]
    made = recording(events, lanes, format="mosaic")
    built = Timeline(made, places(made, {}))
    headline = built.headline
    assert (headline.bound, headline.op, headline.op_share, headline.recorders) == (Bound.RANGES, "body", 0.6, 2)
    table = built.by_range()
    assert table["range"] == ["body", "mma"] and table["self"].tolist() == pytest.approx([60e-6, 40e-6])
    cycles = Timeline(Recording(**{**vars(made), "unit": TimeUnit.CYCLE}), places(made, {})).by_range()
    assert cycles.columns["self"].unit == "cycles" and cycles["self"].tolist() == [60e6, 40e6]


def test_a_long_name_is_cut() -> None:
    built = timeline([Event("stream 1", "gemm<" + "x" * 500, 0, 10, EventKind.KERNEL)])
    assert len(said(built)) < 200


@pytest.mark.parametrize(
    ("code", "is_input"),
    [
        ("for batch in loader", True),
        ("for batch in loader:", True),
        ("for i in range(100)", False),
        ("for y in ys: z = f(y)", False),
        ("x = next(batches)", True),
        ("params = step(params)", False),
    ],
)
def test_which_lines_ask_for_input(code: str, is_input: bool) -> None:
    built = timeline([kernel("a.1", 0, 10), kernel("a.1", 90, 10), host("line", 10, 80)], {}, {"line": code})
    assert built.headline.doing.is_input == is_input
    assert built.headline.bound is (Bound.INPUT if is_input else Bound.HOST)
