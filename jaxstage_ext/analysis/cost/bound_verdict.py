"""What bounds a program: the ceiling that takes most of its time, if nothing unknown could overturn that.

What is not known, such as an instruction, a unit, a loop's length or a branch, is named where it could.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.collectives.exposed_time import Exchange
from jaxstage_ext.analysis.cost import work_ranges
from jaxstage_ext.analysis.cost.ceilings import BoundCondition, BoundDecision, Ceiling, Doubt, DoubtReason
from jaxstage_ext.analysis.cost.compute_times import ComputeTimes
from jaxstage_ext.analysis.cost.instruction_times import InstructionTimes
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.rules.arithmetic import UnitKind
from jaxstage_ext.analysis.cost.rules.flops import TRANSCENDENTAL
from jaxstage_ext.analysis.cost.work_ranges import Rule
from jaxstage_ext.ir.hlo.module import Module


def open_questions(
    cost: Cost, times: InstructionTimes, computed: ComputeTimes, doubts: Sequence[Doubt], exchanges: Sequence[Exchange]
) -> tuple[DoubtReason, ...]:
    """Each doubt with what it is about."""
    return tuple(_reason(cost, times, computed, doubt, exchanges) for doubt in doubts)


def _reason(
    cost: Cost, times: InstructionTimes, computed: ComputeTimes, doubt: Doubt, exchanges: Sequence[Exchange]
) -> DoubtReason:
    weight = _weight(cost, times, doubt)
    rows = np.flatnonzero(weight > 0)
    most = int(rows[np.argmax(weight[rows])]) if len(rows) else -1
    line = cost.places.line[most] if most >= 0 else ""
    return DoubtReason(doubt, _what(cost, computed, doubt, rows, exchanges), line, len(rows))


def _weight(cost: Cost, times: InstructionTimes, doubt: Doubt) -> Floats:
    """Per instruction, how much of its time is open."""
    weight, shown = np.zeros(len(cost.ops)), np.zeros(len(cost.ops))
    shown[cost.shown] = 1
    columns = {
        Doubt.FLOPS: times.flops_open * np.maximum(cost.moved, 1),
        Doubt.PEAK: times.peak_open,
        Doubt.FUNCTION: times.function_open,
        Doubt.LINK: times.links_open * np.maximum(cost.moved, 1),
        Doubt.ON_CHIP: times.on_chip,
        Doubt.HOST: times.host_open * np.maximum(cost.host, 1) if len(cost.host) else times.host_open,
    }
    if doubt in columns:
        return np.where(shown > 0, columns[doubt] * np.maximum(cost.runs, 1), 0)
    rows = cost.control.running(b"while" if doubt is Doubt.LOOP else b"conditional")
    weight[[row for row in rows if doubt is Doubt.BRANCH or cost.loops.trips[row].trips is None]] = 1
    return weight


def _what(
    cost: Cost,
    computed: ComputeTimes,
    doubt: Doubt,
    rows: npt.NDArray[np.int64],
    exchanges: Sequence[Exchange],
) -> tuple[str, ...]:
    if doubt is Doubt.LINK:
        return tuple(dict.fromkeys(exchange.why for exchange in exchanges if np.isnan(exchange.seconds)))
    if doubt is Doubt.FLOPS:
        return tuple(dict.fromkeys(cost.why[row] for row in rows.tolist() if row in cost.why))
    if doubt is Doubt.PEAK:
        unpublished = [unit for unit, rate in computed.rates.items() if not rate.is_known]
        named = [unit for unit in unpublished if unit.kind is not UnitKind.FUNCTION and computed.work[unit][rows].any()]
        return tuple(dict.fromkeys(str(unit) or "fft" for unit in named))
    return _functions(cost, rows) if doubt is Doubt.FUNCTION else ()


def _functions(cost: Cost, rows: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """The opcodes of the transcendental functions of some instructions, the most operations first."""
    ops = cost.ops
    inside = _within(ops, rows) & np.isin(ops.opcode, TRANSCENDENTAL) & (cost.transcendentals > 0)
    amount: dict[str, float] = {}
    for row in np.flatnonzero(inside).tolist():
        name = ops.opcode[row].decode()
        amount[name] = amount.get(name, 0.0) + float(cost.transcendentals[row])
    return tuple(sorted(amount, key=lambda name: -amount[name]))


def _within(ops: Module, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """These instructions and all of what they call: a TPU's fusions hold fusions."""
    inside = np.zeros(len(ops), np.bool_)
    while len(rows):
        inside[rows] = True
        called = [computation for row in rows.tolist() for computation in ops.called[row] if computation >= 0]
        rows = np.flatnonzero(np.isin(ops.computation, called) & ~inside)
    return inside


Floats = npt.NDArray[np.float64]

KNOWN = (Ceiling.COMPUTE, Ceiling.MEMORY, Ceiling.INTERCONNECT)


@dataclass(frozen=True, eq=False)
class _Program:
    cost: Cost
    times: InstructionTimes

    def totals(self, columns: Collection[Floats], rule: Rule) -> list[float]:
        """Each column summed over one run of the program."""
        own = work_ranges.own_work(self.cost.ops, self.cost.shown, list(columns))
        totals: list[float] = self.cost.control.totals(own, rule)[:, self.cost.ops.entry].tolist()
        return totals

    def decided(self, doubts: Collection[Doubt] = ()) -> Ceiling:
        """The ceiling that takes more time than any other with these doubts resolved; UNKNOWN where none surely does.

        A ceiling is compared with another in one sum, so that one loop runs equally often for both.
        """
        leads = self.leads(doubts)
        return next((ceiling for ceiling in KNOWN if leads[ceiling] > 0), Ceiling.UNKNOWN)

    def leads(self, doubts: Collection[Doubt] = ()) -> dict[Ceiling, float]:
        """How much more time each ceiling surely takes than any other with these doubts resolved; negative for less."""
        times = self.times.without(doubts)
        least, most = times.at_least(), times.at_most()
        pairs = [(ceiling, other) for ceiling in KNOWN for other in Ceiling if other is not ceiling]
        ahead = [least[ceiling] - most[other] for ceiling, other in pairs]
        of_branches: Callable[..., Any] = _of_last if Doubt.BRANCH in doubts else _least
        rule = Rule(of_branches) if Doubt.LOOP in doubts else Rule(of_branches, unknown_trips=0, unknown_losses=np.inf)
        totals = self.totals([*ahead, np.nan_to_num(times.least - times.hidden)], rule)
        leads = dict.fromkeys(KNOWN, np.inf)
        for (ceiling, _), lead in zip(pairs, totals, strict=False):
            leads[ceiling] = min(leads[ceiling], lead)
        return leads


def _least(inner: Floats, axis: int) -> Any:
    """Of each quantity the least that a branch has."""
    return inner.min(axis)


def _of_last(inner: Floats, axis: int) -> Any:
    """The branch for which the last quantity is the most."""
    return inner[:, int(np.argmax(inner[-1]))]


def _of_least_time(inner: Floats, axis: int) -> Any:
    """The branch for which the last quantity is the least."""
    return inner[:, int(np.argmin(inner[-1]))]


_LEAST = Rule(_of_least_time, unknown_trips=0)


def verdict(cost: Cost, times: InstructionTimes) -> BoundDecision:
    """The verdict on a program."""
    if not len(cost.ops.computations):
        return BoundDecision(Ceiling.UNKNOWN, 0.0, dict.fromkeys(Ceiling, 0.0), dict.fromkeys(Ceiling, 0.0))
    program = _Program(cost, times)
    whole = np.nan_to_num(times.least - times.hidden)
    *by_ceiling, seconds = program.totals([*_split(whole, times.bounds()), whole], _LEAST)
    *by_known, seconds = program.totals([*_split(whole, times.known_bounds()), whole], _LEAST)
    shares, known = (
        {ceiling: part / (seconds or 1.0) for ceiling, part in zip(Ceiling, parts, strict=True)}
        for parts in (by_ceiling, by_known)
    )
    ceiling = program.decided()
    doubts = _doubts(program) if ceiling is Ceiling.UNKNOWN else ()
    if ceiling is Ceiling.UNKNOWN and not doubts and seconds:
        ceiling = max(KNOWN, key=lambda other: shares[other])
    return BoundDecision(ceiling, seconds, shares, known, doubts, _condition(program, doubts))


def _condition(program: _Program, doubts: Sequence[Doubt]) -> BoundCondition | None:
    """How long what is unknown may take without overturning the verdict.

    An instruction that takes longer than its bound by the ceiling that leads, m, no longer counts for it, and what it
    takes, t > m, counts against it: the lead shrinks by m + t, less than twice what is unknown takes. All of them
    together take no more than their m from the ceiling, and it needs at least the least m to begin with. What hides
    other work can hide as much again.
    """
    if not doubts or not _OF_TIME.issuperset(doubts):
        return None
    leads = program.leads(doubts)
    ceiling = max(KNOWN, key=lambda each: leads[each])
    if not 0 < leads[ceiling] < np.inf:
        return None
    times = program.times.without(doubts)
    if times.hidden.any():
        return BoundCondition(ceiling, leads[ceiling] / 3)
    if any(_is_present(program, doubt) for doubt in (Doubt.LOOP, Doubt.BRANCH)):
        return BoundCondition(ceiling, leads[ceiling] / 2)
    is_open = np.any([_columns(program.times)[doubt] > 0 for doubt in doubts], axis=0)
    own = times.at_least()[ceiling]
    (lost,) = program.totals([np.where(is_open, own, 0.0)], _LEAST)
    rows = program.cost.shown[is_open[program.cost.shown]]
    first = float(np.min((own * program.cost.runs)[rows])) if len(rows) else 0.0
    return BoundCondition(ceiling, max(leads[ceiling] / 2, leads[ceiling] - lost, first))


def _split(whole: Floats, bounds: list[Ceiling]) -> list[Floats]:
    """The times of the instructions of each ceiling."""
    of = np.array(bounds, object)
    return [np.where(of == ceiling, whole, 0.0) for ceiling in Ceiling]


def _doubts(program: _Program) -> tuple[Doubt, ...]:
    """What has to be known for a decision: one doubt if that is enough, else all that leave a bound open."""
    present = [doubt for doubt in Doubt if _is_present(program, doubt)]
    enough = [doubt for doubt in present if program.decided([doubt]) is not Ceiling.UNKNOWN]
    return tuple(enough[:1] or present)


def _is_present(program: _Program, doubt: Doubt) -> bool:
    shown, control, columns = program.cost.shown, program.cost.control, _columns(program.times)
    if doubt in columns:
        return bool((columns[doubt][shown] > 0).any())
    opcode = b"while" if doubt is Doubt.LOOP else b"conditional"
    rows = control.running(opcode)
    return any(doubt is Doubt.BRANCH or program.cost.loops.trips[row].trips is None for row in rows)


_OF_TIME = frozenset(Doubt) - {Doubt.LOOP, Doubt.BRANCH}


def _columns(times: InstructionTimes) -> dict[Doubt, npt.NDArray[Any]]:
    """Per instruction, whether each doubt about a time concerns it."""
    return {
        Doubt.FLOPS: times.flops_open,
        Doubt.PEAK: times.peak_open,
        Doubt.FUNCTION: times.function_open,
        Doubt.LINK: times.links_open,
        Doubt.ON_CHIP: times.on_chip,
        Doubt.HOST: times.host_open,
    }
