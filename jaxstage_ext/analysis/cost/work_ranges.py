"""The least and the most work that a module can do.

Of a conditional one branch runs, and of a loop of unknown length any number of iterations, or none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.loops.executions import Executions, applied_to_scalars
from jaxstage_ext.analysis.cost.work_range import Branch, RangeCause, RangeReason, WorkRange
from jaxstage_ext.ir.hlo.module import Module

Floats = npt.NDArray[np.float64]

_CONTROL = (b"call", b"while", b"conditional", b"async-start", b"custom-call")
"""Opcodes that run the instructions of the computations that they call."""
_PRED = 1


class Rule(NamedTuple):
    """Which branch of a conditional counts, and how often loops run: those of unknown length, and all others.

    Where amounts are differences, `unknown_losses` is how often a loop of unknown length runs whose amount is negative.
    """

    of_branches: Callable[..., Any]
    unknown_trips: float = 1
    counts_trips: bool = True
    unknown_losses: float = 1


LEAST = Rule(np.min, unknown_trips=0)
COUNTED = Rule(np.max)
MOST = Rule(np.max, math.inf)
BY_XLA = Rule(np.max, counts_trips=False)
"""XLA's cost analysis: the body of every loop once, and the branch of most work."""


@dataclass(frozen=True, eq=False)
class Control:
    """The instructions of a module that run others."""

    ops: Module = field(repr=False)
    loops: Executions = field(repr=False)
    inside: dict[int, list[int]]
    """computation -> the rows of its control instructions."""
    order: Sequence[int]
    """The computations that run, each after all that it calls."""

    def called(self, row: int) -> list[int]:
        """The computations that an instruction runs."""
        return [at for at in self.ops.called[row] if at >= 0 and not self.applied[at]]

    @cached_property
    def applied(self) -> npt.NDArray[np.bool_]:
        return applied_to_scalars(self.ops)

    def running(self, opcode: bytes) -> list[int]:
        """The control instructions of an opcode that run."""
        rows = [row for computation in self.order for row in self.inside.get(computation, ())]
        return sorted(row for row in rows if self.ops.opcode[row] == opcode)

    def totals(self, own: Floats, rule: Rule) -> Floats:
        """What one run of each computation takes with all that it calls, by what its own instructions take.

        `own` and the result have one row a quantity, one column a computation.
        """
        totals = own.copy()
        for computation in self.order:
            for row in self.inside.get(computation, ()):
                totals[:, computation] += self._one_run(row, totals[:, self.called(row)], rule)
        return totals

    def _one_run(self, row: int, inner: Floats, rule: Rule) -> Floats:
        """What one run of an instruction takes, by what each of the computations that it runs takes."""
        if self.ops.opcode[row] == b"conditional":
            return np.asarray(rule.of_branches(inner, axis=1))
        if self.ops.opcode[row] != b"while":
            return inner.sum(1)
        known = self.loops.trips[row].trips if rule.counts_trips else 1
        with np.errstate(invalid="ignore"):
            if known is None:
                once, tested = inner.sum(1), inner[:, 1] if rule.unknown_trips == 0 and inner.shape[1] > 1 else 0.0
                trips = np.where(once < 0, rule.unknown_losses, rule.unknown_trips)
                return tested + np.nan_to_num(once * trips, posinf=np.inf, neginf=-np.inf)
            return np.nansum(inner * np.array([known, known + rule.counts_trips])[: inner.shape[1]], axis=1)


def read(ops: Module, loops: Executions) -> Control:
    """The control flow of a module."""
    inside: dict[int, list[int]] = {}
    for row in ops.rows(*_CONTROL).tolist():
        if any(computation >= 0 for computation in ops.called[row]):
            inside.setdefault(int(ops.computation[row]), []).append(row)
    control = Control(ops, loops, inside, [])
    order: dict[int, None] = {}

    def visit(computation: int) -> None:
        for row in inside.get(computation, ()):
            for called in control.called(row):
                if called not in order:
                    visit(called)
        order[computation] = None

    if len(ops.computations):
        visit(ops.entry)
    return Control(ops, loops, inside, list(order))


def counted_runs(control: Control, own: Floats) -> Floats:
    """How often each computation runs where, of each conditional, the branch of most work counts, for each quantity."""
    totals, runs = control.totals(own, COUNTED), np.zeros_like(own)
    if not len(control.order):
        return runs
    runs[:, control.ops.entry] = 1
    for computation in reversed(control.order):
        for row in control.inside.get(computation, ()):
            called = control.called(row)
            np.add.at(runs, (slice(None), called), runs[:, [computation]] * _factors(control, row, totals[:, called]))
    return runs


def _factors(control: Control, row: int, inner: Floats) -> Floats:
    """How often one run of an instruction runs each of its computations."""
    if control.ops.opcode[row] == b"conditional":
        return np.asarray(np.arange(inner.shape[1]) == inner.argmax(1)[:, None], np.float64)
    if control.ops.opcode[row] != b"while":
        return np.ones(inner.shape)
    trips = control.loops.trips[row].trips
    return np.tile([1.0, 1.0] if trips is None else [trips, trips + 1.0], (len(inner), 1))


def own_work(ops: Module, shown: npt.NDArray[np.int64], values: Sequence[Floats]) -> Floats:
    """The sum over the shown instructions of each computation, one row for each of `values`."""
    place, n = ops.computation[shown], len(ops.computations)
    return np.array([np.bincount(place, column[shown], n) for column in values], np.float64)


def work_range(
    control: Control, shown: npt.NDArray[np.int64], work: Floats, line: Sequence[str], unknown: dict[int, str]
) -> WorkRange:
    """The range of a quantity with a figure per instruction, NaN unknown; `unknown` says why it is."""
    ops = control.ops
    if not len(ops.computations):
        return WorkRange(0.0, 0.0, 0.0)
    known, most = own_work(ops, shown, [np.nan_to_num(work), np.nan_to_num(work, nan=math.inf)])[:, None]
    counted = control.totals(known, COUNTED)[0]
    high = float(control.totals(most, MOST)[0, ops.entry])
    reasons = [
        *_loops(control, line, control.totals(most, COUNTED)[0]),
        *_branches(control, line, counted),
        *(_reason(ops, RangeCause.UNKNOWN, row, line, why) for row, why in unknown.items()),
    ]
    least = float(control.totals(known, LEAST)[0, ops.entry])
    return WorkRange(least, float(counted[ops.entry]), high if math.isfinite(high) else None, tuple(reasons))


def _loops(control: Control, line: Sequence[str], work: Floats) -> list[RangeReason]:
    """Loops of unknown length that do work."""
    lengths = control.loops.trips
    rows = [row for row in control.running(b"while") if lengths[row].trips is None]
    working = [row for row in rows if any(work[computation] > 0 for computation in control.called(row))]
    return [_reason(control.ops, RangeCause.LOOP, row, line) for row in working]


def _branches(control: Control, line: Sequence[str], work: Floats) -> list[RangeReason]:
    """Conditionals whose branches differ in work."""
    reasons = []
    for row in control.running(b"conditional"):
        amounts = work[control.called(row)]
        if float(np.ptp(amounts)) > 0:
            ends = int(np.argmin(amounts)), int(np.argmax(amounts))
            branches = tuple(_branch(control, row, place, line, float(amounts[place])) for place in ends)
            reasons.append(_reason(control.ops, RangeCause.BRANCHES, row, line)._replace(branches=branches))
    return reasons


def _branch(control: Control, row: int, place: int, line: Sequence[str], amount: float) -> Branch:
    """A branch by its number, and the source line that it alone has; HLO has the branch of a boolean's True first."""
    ops = control.ops
    lines = [_lines(ops, computation, line) for computation in control.called(row)]
    own = [at for at in lines[place] if not any(at in other for i, other in enumerate(lines) if i != place)]
    is_of_boolean = int(ops.shapes.element_type[ops.operands[row][0]]) == _PRED
    return Branch(1 - place if is_of_boolean else place, is_of_boolean, next(iter(own), ""), amount)


def _lines(ops: Module, computation: int, line: Sequence[str]) -> dict[str, None]:
    return dict.fromkeys(line[row] for row in np.flatnonzero(ops.computation == computation).tolist() if line[row])


def _reason(ops: Module, cause: RangeCause, row: int, line: Sequence[str], why: str = "") -> RangeReason:
    return RangeReason(cause, ops.names[row].decode(), row, line[row], why)
