"""What times a call: the host's clock, the profiler's trace, or CUPTI."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax

from jaxstage_ext.profiling.timing.sampling import Sample, TimedCall
from jaxstage_ext.profiling.timing.timed_runs import RUN_NAME, samples_of
from jaxstage_ext.profiling.timing.timing_modes import TimingMode
from jaxstage_ext.report.recording import Recording
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


@dataclass(frozen=True)
class Cupti:
    """Kernel times by CUPTI: `record` runs a function and gives (name, milliseconds) of each kernel.

    Raises Unavailable where it gives none, whose time is unknown.
    """

    record: Callable[[Callable[[], None]], Sequence[tuple[str, float]]]
    makes_batches: bool = False

    def samples(self, call: TimedCall, count: int) -> Sequence[Sample]:
        return [self._sample(call) for _ in range(count)]

    def _sample(self, call: TimedCall) -> Sample:
        call.prepare()
        kernels = tuple((name, milliseconds / 1e3) for name, milliseconds in self.record(call.run))
        if not kernels:
            raise Unavailable(
                "CUPTI recorded no kernel of a run: the program computes nothing on the GPU, or copies alone; use "
                "mode='wall'"
            )
        return Sample(sum(seconds for _, seconds in kernels), kernels)


def recorded_by_profiler(runs: Callable[[], None]) -> Recording:
    """The recording of what runs, by XLA's profiler."""
    from jaxstage_ext.core.jax_private.profiler import xplane_of
    from jaxstage_ext.profiling.xplane import xplane

    return xplane.read(xplane_of(runs), "measure")


def recorded_by_cupti(run: Callable[[], None], detach: bool = True) -> Sequence[tuple[str, float]]:
    """The kernels of a run, by CUPTI, which leaves the process afterwards unless `detach` is False."""
    from jaxstage_ext.core.jax_private.mosaic_profiler import kernel_times

    return kernel_times(run, detach)[1]
