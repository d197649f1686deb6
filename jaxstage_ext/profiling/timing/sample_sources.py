"""What times a call: the host's clock, or the profiler's trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.timing.sampling import Sample, TimedCall
from jaxstage_ext.profiling.timing.timing_modes import TimingMode
from jaxstage_ext.report.recording import DEVICE_WORK, NONE, SECOND, EventKind, Recording
from jaxstage_ext.report.unavailable import Unavailable


@dataclass(frozen=True)
class HostClock:
    """Wall time: from the call until the outputs are ready."""

    now: Callable[[], int] = time.perf_counter_ns
    makes_batches: bool = False

    def samples(self, call: TimedCall, count: int) -> Sequence[Sample]:
        return [self._sample(call) for _ in range(count)]

    def _sample(self, call: TimedCall) -> Sample:
        call.prepare()
        began = self.now()
        call.run()
        return Sample((self.now() - began) / 1e9)


@dataclass(frozen=True)
class ProfilerTrace:
    """Kernel times or spans from the profiler; on a CPU, of XLA's ops."""

    mode: TimingMode
    record: Callable[[Callable[[], None]], Recording]
    makes_batches: bool = True

    def samples(self, call: TimedCall, count: int) -> Sequence[Sample]:
        def runs() -> None:
            for run in range(count):
                call.prepare()
                with jax.profiler.TraceAnnotation(f"{RUN_NAME}{run}"):
                    call.run()

        return samples_of(self.record(runs), count, self.mode)


def recorded_by_profiler(runs: Callable[[], None]) -> Recording:
    """The recording of what runs, by XLA's profiler."""
    from jaxstage_ext.core.jax_private.profiler import xplane_of
    from jaxstage_ext.profiling.xplane import xplane

    return xplane.read(xplane_of(runs), "measure", finds_instructions=False)


RUN_NAME = "jaxstage_run_"
_CONTAINERS = ("while", "conditional")
"""HLO instructions whose time is that of others, which may run on other threads."""
Rows = npt.NDArray[np.int64]


def samples_of(recording: Recording, runs: int, mode: TimingMode) -> list[Sample]:
    """The sample of each run, in the order in which they ran.

    Raises Unavailable where the recording lacks a run, or a run started no kernel.
    """
    starts, ends = _windows(recording, runs)
    events, rows = recording.events, kernel_rows(recording)
    rows = rows[np.argsort(events.start[rows], kind="stable")]
    at = np.searchsorted(starts, events.start[rows], "right") - 1
    is_inside = (at >= 0) & (events.start[rows] < ends[np.maximum(at, 0)])
    return [_sample(recording, rows[is_inside & (at == run)], mode) for run in range(runs)]


def kernel_rows(recording: Recording) -> Rows:
    """The events that are kernels: on a GPU kernels, no copies; elsewhere HLO instructions that contain no others."""
    events = recording.events
    kernels = np.flatnonzero(np.isin(events.kind, (EventKind.KERNEL, EventKind.COLLECTIVE)) & (events.device != NONE))
    if (events.kind[kernels] == EventKind.KERNEL).any():
        return kernels
    rows = np.flatnonzero(np.isin(events.kind, DEVICE_WORK) & (events.op != NONE))
    elsewhere = _is_container(recording, rows) & _has_start_inside(recording, rows)
    return rows[~(_contains_next(recording, rows) | elsewhere)]


def _contains_next(recording: Recording, rows: Rows) -> npt.NDArray[np.bool_]:
    """Whether the next event of the lane starts before this one ends; events are sorted by lane, then start."""
    events, inside = recording.events, np.zeros(len(rows), bool)
    here, after = rows[:-1], rows[1:]
    inside[:-1] = (events.lane[here] == events.lane[after]) & (events.start[after] < events.end[here])
    return inside


def _has_start_inside(recording: Recording, rows: Rows) -> npt.NDArray[np.bool_]:
    """Whether another of these events, on any lane, starts while this one runs; a loop without does its work itself."""
    start, end = recording.events.start[rows], recording.events.end[rows]
    ordered = np.sort(start)
    inside: npt.NDArray[np.bool_] = np.searchsorted(ordered, end, "left") > np.searchsorted(ordered, start, "right")
    return inside


def _is_container(recording: Recording, rows: Rows) -> npt.NDArray[np.bool_]:
    is_one = np.array([name.rstrip("0123456789.") in _CONTAINERS for name in recording.ops.name], bool)
    return is_one[recording.events.op[rows]] if len(is_one) else np.zeros(len(rows), bool)


def _windows(recording: Recording, runs: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Start and end of each run's range on the host."""
    numbers = {i: n[len(RUN_NAME) :] for i, n in enumerate(recording.names) if n.startswith(RUN_NAME)}
    events = recording.events
    rows = np.flatnonzero(np.isin(events.name, list(numbers)))
    by_run = {int(numbers[int(events.name[row])]): row for row in rows.tolist()}
    if sorted(by_run) != list(range(runs)):
        raise Unavailable(f"the profiler recorded {len(by_run):,} of {runs:,} runs; use mode='wall'")
    order = np.array([by_run[run] for run in range(runs)], np.int64)
    return events.start[order], events.end[order]


def _sample(recording: Recording, rows: Rows, mode: TimingMode) -> Sample:
    if not len(rows):
        raise Unavailable(
            "the profiler recorded no kernel of a run: the program computes nothing, or this platform's profiler "
            "does not record kernels; use mode='wall'"
        )
    events = recording.events
    kernels = tuple(
        (recording.names[name], duration / SECOND)
        for name, duration in zip(events.name[rows].tolist(), events.duration[rows].tolist(), strict=True)
    )
    if mode is TimingMode.SPAN:
        return Sample(float(np.max(events.end[rows]) - np.min(events.start[rows])) / SECOND, kernels)
    return Sample(float(events.duration[rows].sum()) / SECOND, kernels)
