"""Running a call often enough to state how sure its median is, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from jaxstage_ext.profiling.timing.order_statistics import FEWEST, median_interval, quantile
from jaxstage_ext.report.progress import Progress, silent

MOST_RUNS = 10_000
_FEWEST_RUNS = 3
_ENOUGH_RUNS, _PRECISE = 30, 0.005
"""From this many runs on, an interval that reaches at most this share from the median ends the measurement."""
_LARGEST_BATCH = 64
_PROGRESS_SECONDS = 0.5
_WARM_UP_SHARE = 0.1
_MOST_WARM_UPS = 5


class Sample(NamedTuple):
    """One run: its seconds, and its kernels as (name, seconds) in the order of their start, where a device says."""

    seconds: float
    kernels: tuple[tuple[str, float], ...] = ()


class TimedCall(Protocol):
    """A call that can be run repeatedly."""

    def prepare(self) -> None:
        """Make the arguments of the next run and wait until they are ready; this is not timed."""

    def run(self) -> None:
        """Run once, until the outputs are ready."""


class SampleSource(Protocol):
    """What times a call."""

    @property
    def makes_batches(self) -> bool:
        """Whether several runs at once cost less than one by one."""

    def samples(self, call: TimedCall, count: int) -> Sequence[Sample]:
        """Prepare and run the call so many times."""


@dataclass(frozen=True)
class Plan:
    """When to stop."""

    seconds: float = 2.0
    """The budget; at least 3 runs are made."""
    runs: int | None = None
    """Exactly so many, whatever they take; None for enough."""
    progress: Progress = silent
    now: Callable[[], float] = field(default=time.perf_counter, repr=False)
    """The clock in seconds."""


class Sampled(NamedTuple):
    """The runs that count; `interrupted` where Ctrl-C ended them."""

    samples: tuple[Sample, ...]
    interrupted: bool


def warm_up(call: TimedCall, plan: Plan) -> tuple[float, ...]:
    """Run until a tenth of the budget is spent, once at least and five times at most; seconds of each by the clock."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < _MOST_WARM_UPS and sum(seconds) < _WARM_UP_SHARE * plan.seconds):
        call.prepare()
        began = plan.now()
        call.run()
        seconds.append(plan.now() - began)
    return tuple(seconds)


def sample(call: TimedCall, source: SampleSource, plan: Plan) -> Sampled:
    """Run until the plan is fulfilled. Ctrl-C ends it with the runs until then; before the first, it is raised."""
    collected: list[Sample] = []
    began = told = plan.now()
    batch = 1
    try:
        while not _is_enough(collected, plan, plan.now() - began):
            batch_began = plan.now()
            collected += source.samples(call, min(batch, (plan.runs or MOST_RUNS) - len(collected)))
            now = plan.now()
            batch = _next_batch(batch, now - batch_began, plan.seconds - (now - began)) if source.makes_batches else 1
            if now - told >= _PROGRESS_SECONDS:
                told = now
                plan.progress(now - began, f"{len(collected):,} runs")
    except KeyboardInterrupt:
        if not collected:
            raise
        return Sampled(tuple(collected), True)
    return Sampled(tuple(collected), False)


def _next_batch(batch: int, took: float, left: float) -> int:
    """Twice as many runs, as far as the time that is left allows."""
    affordable = int(left * batch / took) if took > 0 else _LARGEST_BATCH
    return max(1, min(2 * batch, affordable, _LARGEST_BATCH))


def _is_enough(collected: Sequence[Sample], plan: Plan, elapsed: float) -> bool:
    count = len(collected)
    if plan.runs is not None:
        return count >= plan.runs
    if count >= MOST_RUNS or (count >= _FEWEST_RUNS and elapsed >= plan.seconds):
        return True
    return count >= _ENOUGH_RUNS and count.bit_count() <= 2 and _is_precise([one.seconds for one in collected])


def _is_precise(seconds: Sequence[float]) -> bool:
    """Asked at 32, 33, 34, 36, 40, 48, 64, ... runs, since sorting all of them after each would take longer."""
    interval = median_interval(seconds) if len(seconds) >= FEWEST else None
    if interval is None:
        return False
    median = quantile(seconds, 0.5)
    return max(median - interval[0], interval[1] - median) <= _PRECISE * median
