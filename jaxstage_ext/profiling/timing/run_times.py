"""The times of a function's runs, and their statistics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from jaxstage_ext.profiling.timing.order_statistics import FEWEST, median_interval, quantile
from jaxstage_ext.profiling.timing.timing_modes import Noise, TimeSource, TimingMode

_WIDE = 0.05
"""An interval that reaches further from the median than this share of it is too wide to tell small changes."""
_DRIFT = 0.1
"""A change between the first and the last third of the runs that is more than this share of the median is drift."""


class KernelTime(tuple[str, float]):
    """A kernel, or on a CPU an op: (name, milliseconds per run), the median over the runs."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name that the profiler gives it."""
        return self[0]

    @property
    def milliseconds(self) -> float:
        """The median of its time over the runs."""
        return self[1]


@dataclass(frozen=True)
class RunTimes:
    """The times of a function's runs and their statistics; the mode names the quantity."""

    title: str
    """What was measured."""
    mode: TimingMode
    """"kernels" (sum of the times of kernels, gaps left out), "span" (first kernel's start to last kernel's end) or
    "wall" (the host's clock, until the outputs are ready)."""
    source: TimeSource
    """Where the times come from."""
    device: str
    """What it ran on: "CPU", "NVIDIA H100 80GB HBM3"."""
    samples: tuple[float, ...]
    """Seconds of each run that counts, in the order in which they ran."""
    compile_seconds: float | None = None
    """Tracing, lowering and compiling, which no sample holds; None where it was compiled before."""
    warm_up: tuple[float, ...] = ()
    """Seconds by the host's clock of the runs before, of the first without compiling; no sample holds them."""
    kernels: tuple[KernelTime, ...] | None = None
    """Kernels in the order of their first start; None unless they were asked for with aggregate=False."""
    same_kernels: bool = True
    """Whether every run started the same kernels; if not, `kernels` has one row for each name."""
    interrupted: bool = False
    """Whether it was interrupted, and has the runs until then."""

    @property
    def runs(self) -> int:
        """The number of runs that count."""
        return len(self.samples)

    @cached_property
    def median(self) -> float:
        """Seconds: half of the runs took longer."""
        return quantile(self.samples, 0.5)

    @property
    def minimum(self) -> float:
        """Seconds of the fastest run."""
        return min(self.samples)

    @cached_property
    def quartiles(self) -> tuple[float, float]:
        """Seconds: a quarter of the runs is below the first, a quarter above the second."""
        return quantile(self.samples, 0.25), quantile(self.samples, 0.75)

    @property
    def interquartile_range(self) -> float:
        """Seconds between the quartiles."""
        return self.quartiles[1] - self.quartiles[0]

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the median in seconds, by order statistics; None of fewer than 6 runs."""
        return median_interval(self.samples)

    @property
    def uncertainty(self) -> float | None:
        """Seconds that the median may be off by: to the farther end of its interval; None of fewer than 6 runs."""
        return None if self.interval is None else max(self.median - self.interval[0], self.interval[1] - self.median)

    @cached_property
    def noise(self) -> Noise:
        """Whether the figures can be relied upon, and why not."""
        if self.uncertainty is None:
            return Noise.TOO_FEW_RUNS
        third = max(self.runs // 3, 1)
        change = abs(quantile(self.samples[-third:], 0.5) - quantile(self.samples[:third], 0.5))
        if self.runs >= 3 * FEWEST and change > max(_DRIFT * self.median, self.interquartile_range):
            return Noise.DRIFT
        return Noise.WIDE_INTERVAL if self.uncertainty > _WIDE * self.median else Noise.NONE
