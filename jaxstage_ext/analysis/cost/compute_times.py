"""The least and the most time that the units of a device take for each instruction, by their peaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import module_cost
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.rules import arithmetic
from jaxstage_ext.analysis.cost.rules.arithmetic import Unit, UnitKind
from jaxstage_ext.analysis.cost.unit_peaks import Ceilings, Rate, rate

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ComputeTimes:
    """Seconds per instruction and run."""

    least: Floats
    """The longest that one unit takes at its highest rate, units working side by side."""
    peak_open: Floats
    function_open: Floats
    """`peak_open`, `function_open`: what the operations without a published peak, and transcendental functions, can
    take on top at most."""
    unknown: npt.NDArray[np.bool_]
    """Whether FLOPs are unknown."""
    unit: list[Unit | None]
    """The unit that takes longest, or computes most; None where nothing is computed."""
    work: dict[Unit, Floats]
    """Per unit the operations that it does."""
    rates: dict[Unit, Rate]
    """How many it does in a second."""


def read(cost: Cost, device: Ceilings, platform: str) -> ComputeTimes:
    """The times of all instructions of a module."""
    work = {unit: done for unit, done in _by_unit(cost, platform).items() if done.any()}
    rates = {unit: rate(unit, device, platform) for unit in work}
    n = len(cost.ops)
    least, peak_open, function_open = np.zeros(n), np.zeros(n), np.zeros(n)
    for unit, done in work.items():
        fast = done / rates[unit].fast
        np.maximum(least, fast, out=least)
        slow = np.divide(done, rates[unit].slow, out=np.where(done > 0, np.inf, 0.0), where=rates[unit].slow > 0)
        extra = function_open if unit.kind is UnitKind.FUNCTION else peak_open
        if not rates[unit].is_known:
            extra += np.where(done > 0, slow - fast, 0.0)
    return ComputeTimes(least, peak_open, function_open, np.isnan(cost.flops), _longest(work, rates, n), work, rates)


def _longest(work: dict[Unit, Floats], rates: dict[Unit, Rate], n: int) -> list[Unit | None]:
    """Per instruction the unit that takes longest; where all take no known time, that which does most."""
    units, best = list(work), np.full(n, -1)
    if not units:
        return [None] * n
    longest, most = np.zeros(n), np.zeros(n)
    for place, unit in enumerate(units):
        seconds = work[unit] / rates[unit].fast
        better = (work[unit] > 0) & ((seconds > longest) | ((seconds == longest) & (work[unit] > most)))
        best[better], longest[better], most[better] = place, seconds[better], work[unit][better]
    return [units[place] if place >= 0 else None for place in best.tolist()]


def _by_unit(cost: Cost, platform: str) -> dict[Unit, Floats]:
    """The operations that each unit does, per instruction; a fusion has its members'."""
    ops = cost.ops
    work: dict[Unit, Floats] = {}
    fusions = np.isin(ops.opcode, b"fusion")
    flops, functions = np.nan_to_num(cost.flops), cost.transcendentals
    for figures, units in (
        (flops, arithmetic.units(ops, np.flatnonzero((flops > 0) & ~fusions), platform)),
        (functions, arithmetic.functions(ops, np.flatnonzero((functions > 0) & ~fusions))),
    ):
        for row, unit in units:
            column = work.setdefault(unit, np.zeros(len(ops)))
            column[row] += figures[row]
    for rows in module_cost.fusions(ops):
        for column in work.values():
            column[rows] = np.bincount(ops.computation, column, len(ops.computations))[ops.called.at(0)[rows]]
    return work
