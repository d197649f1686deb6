"""On-device profiles under their kernel's events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mosaic_buffers import TrueRange, TrueTrace, written
from recordings import Event, recording

from jaxstage_ext.profiling.mosaic.mosaic_kernels import KernelClock
from jaxstage_ext.profiling.mosaic.mosaic_merge import MosaicCapture, captures_of, with_on_device
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.report.recording import (
    NONE,
    CounterSeries,
    EventKind,
    EventLane,
    LaneKind,
    Loss,
    Recording,
)

ORIGIN = 1_795_000_000_123_456_789
LANES = (
    EventLane("GPU 0", "Stream #7", LaneKind.COMPUTE, 0),
    EventLane("GPU 0", "power", LaneKind.COUNTER, 0),
    EventLane("host", "python", LaneKind.HOST),
)
KERNEL = "scale_mosaic_gpu_kernel"
SPEC = MosaicSpec(16, ("load", "mma"), (1,), (128,), kernel="scale")


def profile(starts: Sequence[float] = (10, 30), clock_rate: Any = 2_000_000, **fields: Any) -> Recording:
    """A GPU that runs the kernel at these microseconds, 15 us long; a counter, and a host event behind."""
    events = [
        Event("Stream #7", KERNEL, at, 15, EventKind.KERNEL, run=n, correlation=40 + n) for n, at in enumerate(starts)
    ]
    made = recording(
        [*events, Event("python", "call", 0, 90, EventKind.HOST, device=NONE)],
        LANES,
        origin=ORIGIN,
        device_facts={"GPU 0": {"clock_rate": clock_rate}},
        counters=(CounterSeries(1, "power", np.array([0]), np.array([1.0])),),
        **fields,
    )
    return replace(made, details=lambda event: {"own": event})


def capture(timer: int, time: int = 0, sm: int = 5) -> MosaicCapture:
    trace = TrueTrace(timer, sm, (TrueRange(1, 1_000, 9_000, (TrueRange(0, 2_000, 4_000),)),))
    return MosaicCapture(written([trace], 16), SPEC, time)


def ranges(made: Recording) -> list[tuple[str, str, int, int]]:
    rows = np.flatnonzero(made.events.kind == EventKind.RANGE)
    return [
        (
            made.lanes[made.events.lane[row]].group,
            made.names[made.events.name[row]],
            int(made.events.start[row]),
            int(made.events.duration[row]),
        )
        for row in rows.tolist()
    ]


def facts(made: Recording) -> Any:
    return made.device_facts["Mosaic GPU scale"]


@pytest.mark.parametrize("late", [0, 3_000])
def test_ranges_stand_in_their_kernel_by_the_global_timer(late: int) -> None:
    """The second of two runs, whose first block begins `late` ns after the kernel; 2 GHz is what the profile says."""
    made = with_on_device(profile(), [capture(ORIGIN + 30_000 + late)])
    start = 30_000_000 + late * 1_000
    overhead = 11 * 500
    assert ranges(made) == [
        ("GPU 0, scale, SM 5", "mma", start, 4_000_000 - 3 * overhead),
        ("GPU 0, scale, SM 5", "load", start + 500_000 - overhead, 1_000_000 - overhead),
    ]
    assert facts(made)["clock"] is KernelClock.GLOBAL_TIMER and facts(made)["sm_clock_hz"] == 2e9
    row = np.flatnonzero(made.events.kind == EventKind.RANGE)
    assert set(made.events.run[row].tolist()) == {1} and set(made.events.correlation[row].tolist()) == {41}


def test_the_rest_of_the_recording_is_as_it_was() -> None:
    own = profile()
    made = with_on_device(own, [capture(ORIGIN + 10_000), capture(ORIGIN + 30_000)])
    assert [lane.group for lane in made.lanes] == ["GPU 0", "GPU 0", "GPU 0, scale, SM 5", "host"]
    assert (made.lanes[2].device, made.lanes[2].kind, made.counters[0].lane) == (0, LaneKind.ON_DEVICE, 1)
    rest = made.events.kind != EventKind.RANGE
    for column in ("start", "duration", "name", "kind", "op", "device", "run", "correlation"):
        assert np.array_equal(getattr(made.events, column)[rest], getattr(own.events, column))
    assert [made.lanes[lane].name for lane in made.events.lane[rest]] == ["Stream #7", "Stream #7", "python"]
    assert np.array_equal(np.sort(made.events.lane), made.events.lane) and made.total == own.total + 4
    details = [made.details(event) for event in range(len(made.events))]
    assert [each.get("own") for each in details] == [0, 1, None, None, None, None, 2]
    assert [each.get("clock at begin") for each in details[2:6]] == [1_000, 2_000, 1_000, 2_000]
    assert facts(made)["runs"] == 2


def test_runs_of_one_warpgroup_share_its_lane() -> None:
    made = with_on_device(profile(), [capture(ORIGIN + 30_000), capture(ORIGIN + 10_000)])
    assert [start for *_, start, _ in ranges(made)] == [10_000_000, 10_494_500, 30_000_000, 30_494_500]


def test_clocks_that_differ_are_aligned_at_the_start_of_the_kernel_and_said_to_be() -> None:
    made = with_on_device(profile(), [capture(77), capture(99)])
    assert [start for *_, start, _ in ranges(made)] == [10_000_000, 10_494_500, 30_000_000, 30_494_500]
    assert facts(made)["clock"] is KernelClock.KERNEL_START


def test_without_the_kernel_they_are_on_a_clock_of_their_own() -> None:
    made = with_on_device(profile(starts=()), [capture(2**32 - 1_000, 50), capture(3_000, 5_000)], sm_clock=1e9)
    assert [start for *_, start, _ in ranges(made)][::2] == [0, 4_000_000]
    assert facts(made)["clock"] is KernelClock.APART
    lane = made.lanes[-1]
    assert (lane.group, lane.host, made.hosts) == ("scale, SM 5", 1, ("", "on-device clock of scale"))


def test_runs_whole_turns_of_the_timer_apart_are_told_by_the_hosts_clock() -> None:
    runs = [capture(1_000, 0), capture(2_000, 2 * 2**32 + 900_000)]
    made = with_on_device(profile(starts=()), runs, sm_clock=1e9)
    assert [start for *_, start, _ in ranges(made)][::2] == [0, (2 * 2**32 + 1_000) * 1_000]


def test_fewer_runs_than_events_are_not_guessed() -> None:
    made = with_on_device(profile(), [capture(77)])
    assert facts(made)["clock"] is KernelClock.APART


@pytest.mark.parametrize("rate", [None, "fast", 0, -5, 1.0, 10**12, float("nan")])
def test_without_a_plausible_clock_they_are_left_out_and_reported(rate: Any) -> None:
    made = with_on_device(profile(clock_rate=rate), [capture(ORIGIN + 10_000)])
    assert ranges(made) == []
    assert [(lost.loss, lost.count) for lost in made.lost] == [(Loss.NO_CLOCK, 2)]


def test_a_buffer_that_cannot_be_decoded_is_reported() -> None:
    broken = replace(capture(0), words=np.zeros(3, np.uint32))
    made = with_on_device(profile(), [broken, capture(ORIGIN + 10_000)])
    assert len(ranges(made)) == 2
    assert [(lost.loss, lost.where) for lost in made.lost] == [(Loss.UNREADABLE, "on-device profile of scale")]


def test_kernels_are_told_apart_by_their_names() -> None:
    other = replace(SPEC, kernel="sca")
    made = with_on_device(profile(), [replace(capture(ORIGIN + 10_000), spec=other)])
    assert made.device_facts["Mosaic GPU sca"]["clock"] is KernelClock.APART


def test_no_captures_change_nothing() -> None:
    own = profile()
    assert with_on_device(own, []) is own


def test_a_run_under_the_profiler_keeps_what_its_kernels_recorded() -> None:
    """With JAX's own dump, called from a callback as a kernel's is; the CPU's profile has no kernel and no SM clock."""
    profiler = pytest.importorskip("jax.experimental.mosaic.gpu.profiler")
    import io

    import jax

    from jaxstage_ext.profiling.capture.capture import Capture
    from jaxstage_ext.profiling.capture.captured_recording import recording_of

    spec = profiler.ProfilerSpec(16)
    spec.intern_name("load")
    words = written([TrueTrace(77, 5, (TrueRange(0, 1_000, 9_000),))], 16)

    def dump_profile(buffer: Any) -> None:
        spec.dump(buffer, io.StringIO(), grid=(1, 1, 1), block=(128, 1, 1))

    @jax.jit
    def step(buffer: Any) -> Any:
        jax.debug.callback(dump_profile, buffer)
        return buffer + 1

    ran = Capture("step(words)")
    with ran.recording():
        step(words)
    assert [np.asarray(dump.words).tolist() for dump in ran.on_device] == [words.tolist()]
    assert [(lost.loss, lost.count) for lost in recording_of(ran).lost if lost.loss is Loss.NO_CLOCK] == [
        (Loss.NO_CLOCK, 1)
    ]
    made = with_on_device(recording_of(ran), captures_of(ran.on_device), sm_clock=1e9)
    assert [item[:2] for item in ranges(made)] == [("SM 5", "load")]
