"""How long a function takes, run by run: the public Timing."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.profiling.timing import timing_wording as wording
from jaxstage_ext.profiling.timing.run_times import RunTimes
from jaxstage_ext.profiling.timing.timing_modes import TimingMode
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.table import Column, Table

TIMING_VERSION = 1


class DifferentModes(DeliberateError, ValueError):
    """Two Timings that measured different quantities; the message is one line."""


class Timing(RunTimes):
    """How long a function takes. Its mode names the quantity; two modes are different quantities.

    Attributes:
      title: what was measured.
      mode: "kernels" (sum of the times of kernels, gaps left out), "span" (first kernel's start to last kernel's end)
        or "wall" (the host's clock, until the outputs are ready).
      source: where the times come from.
      device: what it ran on: "CPU", "NVIDIA H100 80GB HBM3".
      samples: seconds of each run that counts, in the order in which they ran.
      compile_seconds: tracing, lowering and compiling, which no sample holds; None where it was compiled before.
      warm_up: seconds by the host's clock of the runs before, of the first without compiling; no sample holds them.
      kernels: kernels in the order of their first start; None unless they were asked for with aggregate=False.
      same_kernels: whether every run started the same kernels; if not, `kernels` has one row for each name.
      interrupted: whether it was interrupted, and has the runs until then.
    """

    def compared_with(self, other: Timing) -> TimingComparison:
        """How much faster this one is than another. Raises DifferentModes for one that measured something else."""
        if other.mode is not self.mode:
            raise DifferentModes(wording.different_modes(self.mode, other.mode))
        low, high = _ratio(other.interval, self.interval)
        return TimingComparison(self.mode, other.median / self.median if self.median else math.nan, low, high)

    @cached_property
    def table(self) -> Table:
        """One row a run: its time in seconds."""
        doc = wording.of_mode(self.mode)
        return Table("runs", {self.mode.value: Column(np.array(self.samples), "s", doc)})

    @property
    def kernel_table(self) -> Table:
        """One row a kernel. Raises ValueError where kernels were not asked for."""
        if self.kernels is None:
            raise ValueError("this Timing has no list of kernels; measure with mode='kernels', aggregate=False")
        columns = {
            "kernel": Column([kernel.name for kernel in self.kernels]),
            "time": Column(np.array([kernel.milliseconds for kernel in self.kernels]), "ms", "median over the runs"),
        }
        return Table("kernels", columns)

    def to_pandas(self) -> Any:
        """The runs as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """Every field and figure, in seconds, as versioned JSON; what is unknown is null."""
        low, high = self.interval or (None, None)
        return json.dumps(
            {
                "jaxstage_timing": TIMING_VERSION,
                "title": self.title,
                "mode": self.mode.value,
                "source": self.source.value,
                "device": self.device,
                "median": self.median,
                "interval": [low, high],
                "quartiles": list(self.quartiles),
                "minimum": self.minimum,
                "runs": self.runs,
                "noise": self.noise.name.lower(),
                "interrupted": self.interrupted,
                "compile_seconds": self.compile_seconds,
                "warm_up": list(self.warm_up),
                "samples": list(self.samples),
                "kernels": None if self.kernels is None else [list(kernel) for kernel in self.kernels],
            }
        )

    def __str__(self) -> str:
        return wording.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return wording.html(self)


@dataclass(frozen=True)
class TimingComparison:
    """How much faster one function is than another, by one mode."""

    mode: TimingMode
    ratio: float
    """Of the medians; above 1 where the first is faster."""
    low: float
    high: float
    """`low`, `high`: the ratio at the ends of both 95 % intervals; NaN where one has too few runs."""

    @property
    def is_clear(self) -> bool:
        """Whether the intervals do not overlap, so that one of them is faster."""
        return self.low > 1 or self.high < 1

    def __str__(self) -> str:
        return wording.comparison(self.mode, self.ratio, self.low, self.high)

    __repr__ = __str__


def _ratio(above: tuple[float, float] | None, below: tuple[float, float] | None) -> tuple[float, float]:
    if above is None or below is None or below[0] <= 0:
        return math.nan, math.nan
    return above[0] / below[1], above[1] / below[0]
