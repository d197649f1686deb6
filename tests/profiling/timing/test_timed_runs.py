"""Kernel times and spans of runs, from recordings whose gaps are known."""

from __future__ import annotations

import pytest

from jaxstage_ext.profiling.timing.measure import kernels_per_run
from jaxstage_ext.profiling.timing.sample_sources import samples_of
from jaxstage_ext.profiling.timing.timing_modes import TimingMode
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind, Recording
from jaxstage_ext.report.unavailable import Unavailable
from tests.helpers.recordings import Event, recording

HOST = EventLane("host", "python", LaneKind.HOST)
CPU = (EventLane("CPU", "t1", LaneKind.OPS), EventLane("CPU", "t2", LaneKind.OPS))


def run(number: int, start: float, duration: float) -> Event:
    return Event("python", f"jaxstage_run_{number}", start, duration, EventKind.HOST, device=NONE)


def kernel(name: str, start: float, duration: float, kind: EventKind = EventKind.KERNEL) -> Event:
    return Event("stream", name, start, duration, kind)


def op(lane: str, name: str, start: float, duration: float) -> Event:
    return Event(lane, name, start, duration, EventKind.OP, ("jit_f", name))


GPU = recording(
    [
        kernel("setup", 5, 50),
        run(0, 100, 100),
        kernel("gemm", 110, 20),
        kernel("add", 140, 5),
        run(1, 300, 100),
        kernel("copy", 301, 2, EventKind.COPY),
        kernel("gemm", 310, 22),
        kernel("add", 350, 5),
        kernel("setup", 420, 50),
    ],
    [HOST],
)


def seconds(made: Recording, runs: int, mode: TimingMode) -> list[float]:
    return [round(sample.seconds * 1e6, 6) for sample in samples_of(made, runs, mode)]


def test_gaps_are_left_out_of_kernels_and_in_a_span_and_setup_is_in_neither() -> None:
    assert seconds(GPU, 2, TimingMode.KERNELS) == [25, 27]
    assert seconds(GPU, 2, TimingMode.SPAN) == [35, 45]


def test_kernels_per_run_are_medians_in_the_order_of_their_start() -> None:
    kernels, same = kernels_per_run([sample.kernels for sample in samples_of(GPU, 2, TimingMode.KERNELS)])
    assert same
    assert [(name, round(ms, 9)) for name, ms in kernels] == [("gemm", 0.021), ("add", 0.005)]


def test_runs_of_different_kernels_are_added_up_by_name() -> None:
    kernels, same = kernels_per_run([[("a", 1.0), ("b", 2.0), ("a", 1.0)], [("a", 4.0)]])
    assert not same
    assert kernels == (("a", 3000.0), ("b", 1000.0))


def test_parallel_kernels_that_start_in_another_order_are_the_same() -> None:
    kernels, same = kernels_per_run([[("a", 1.0), ("b", 2.0), ("a", 3.0)], [("b", 4.0), ("a", 1.0), ("a", 5.0)]])
    assert same
    assert kernels == (("a", 1000.0), ("b", 3000.0), ("a", 4000.0))


def test_on_a_cpu_parallel_ops_are_added_up_and_loops_are_their_bodies() -> None:
    made = recording(
        [
            run(0, 0, 200),
            op("t1", "while.3", 10, 100),
            op("t1", "fusion.1", 10, 30),
            op("t1", "fusion.2", 60, 40),
            op("t2", "dot.7", 15, 90),
            op("t2", "while.9", 120, 30),
            op("t1", "add.2", 125, 20),
        ],
        [HOST, *CPU],
    )
    assert seconds(made, 1, TimingMode.KERNELS) == [30 + 40 + 90 + 20]
    assert seconds(made, 1, TimingMode.SPAN) == [145 - 10]


def test_small_loops_and_calls_whose_bodies_are_not_recorded_count_themselves() -> None:
    made = recording(
        [run(0, 0, 200), op("t1", "call", 10, 11), op("t1", "while.2", 30, 7), op("t2", "add", 60, 2)], [HOST, *CPU]
    )
    assert seconds(made, 1, TimingMode.KERNELS) == [20]


def test_a_run_without_kernels_and_a_run_that_is_missing_are_explained() -> None:
    with pytest.raises(Unavailable, match="no kernel of a run"):
        samples_of(recording([run(0, 0, 10)], [HOST]), 1, TimingMode.SPAN)
    with pytest.raises(Unavailable, match="1 of 2 runs"):
        samples_of(recording([run(0, 0, 10), kernel("a", 1, 2)], [HOST]), 2, TimingMode.SPAN)
