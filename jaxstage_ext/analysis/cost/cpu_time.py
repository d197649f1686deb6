"""How long a CPU program takes: not its lower bound, but what programs with such bounds took, and how sure that is.

What each ceiling takes at least counts by a factor, and a call by a time. They were fitted to programs that were
measured (`python -m tests.estimates`); `cpu_time_fit` has them, with the machine. Nothing else of a program counts.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np

from jaxstage_ext.analysis.cost import cost_wording as wording
from jaxstage_ext.analysis.cost import cpu_time_fit as fit
from jaxstage_ext.analysis.cost.ceilings import Ceiling
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.roofline import Roofline


@dataclass(frozen=True)
class CpuWork:
    """What a program does on one device, in seconds of its lower bounds.

    Attributes:
      products: of instructions that are bound by matrix products.    arithmetic: by other arithmetic.
      moved: by memory or caches.    instructions: runs of instructions that are in the roofline.    calls: one.
    """

    products: float
    arithmetic: float
    moved: float
    instructions: float
    calls: float = 1.0

    @property
    def columns(self) -> tuple[float, ...]:
        """In the order of `TERMS`."""
        return astuple(self)


TERMS = tuple(field.name for field in fields(CpuWork))


@dataclass(frozen=True)
class CpuTime:
    """A predicted time in seconds, and between which times it is expected to lie.

    Attributes:
      median_error: of the programs that were measured, each predicted from the others; 0.3 for 30%.
      held: the share of their intervals that held.    programs: how many they were.    machine: the CPU.
    """

    seconds: float
    low: float
    high: float
    median_error: float
    held: float
    programs: int
    machine: str

    def __str__(self) -> str:
        return wording.expected(self.seconds, (self.low, self.high), (self.held, self.programs), self.machine)


def work_of(roof: Roofline, cost: Cost) -> CpuWork:
    """The work of a program, by the ceiling that each instruction is bound by; unknown parts count as nothing."""
    seconds = np.nan_to_num(roof.seconds - roof.hidden)
    computes = np.array([bound is Ceiling.COMPUTE for bound in roof.bound], bool)
    matrix = np.array([unit.endswith("matrix") for unit in roof.unit], bool)
    return CpuWork(
        float(seconds[computes & matrix].sum()),
        float(seconds[computes & ~matrix].sum()),
        float(seconds[~computes].sum()),
        float(np.asarray(cost.runs)[roof.rows].sum()),
    )


def predicted(work: CpuWork) -> CpuTime:
    """The time of a program with this work."""
    seconds = float(np.dot(work.columns, [fit.FACTORS[term] for term in TERMS]))
    low, high = fit.RATIOS
    return CpuTime(seconds, low * seconds, high * seconds, fit.MEDIAN_ERROR, fit.HELD, fit.PROGRAMS, fit.MACHINE)
