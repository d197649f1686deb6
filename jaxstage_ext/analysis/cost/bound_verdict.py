"""What bounds a program: the ceiling that takes most of its time, if nothing unknown could overturn that."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import work_ranges
from jaxstage_ext.analysis.cost.ceilings import BoundDecision, Ceiling, Doubt
from jaxstage_ext.analysis.cost.instruction_times import InstructionTimes
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.work_ranges import Rule

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
        times = self.times.without(doubts)
        least, most = times.at_least(), times.at_most()
        pairs = [(ceiling, other) for ceiling in KNOWN for other in Ceiling if other is not ceiling]
        ahead = [least[ceiling] - most[other] for ceiling, other in pairs]
        of_branches: Callable[..., Any] = _of_last if Doubt.BRANCH in doubts else _least
        rule = Rule(of_branches) if Doubt.LOOP in doubts else Rule(of_branches, unknown_trips=0, unknown_losses=np.inf)
        totals = self.totals([*ahead, np.nan_to_num(times.least - times.hidden)], rule)
        sure = dict.fromkeys(KNOWN, True)
        for (ceiling, _), lead in zip(pairs, totals, strict=False):
            sure[ceiling] &= lead > 0
        return next((ceiling for ceiling in KNOWN if sure[ceiling]), Ceiling.UNKNOWN)


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


def read(cost: Cost, times: InstructionTimes) -> BoundDecision:
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
    return BoundDecision(ceiling, seconds, shares, known, doubts)


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
    times, shown, control = program.times, program.cost.shown, program.cost.control
    columns: dict[Doubt, npt.NDArray[Any]] = {
        Doubt.FLOPS: times.flops_open,
        Doubt.PEAK: times.peak_open,
        Doubt.FUNCTION: times.function_open,
        Doubt.LINK: times.links_open,
        Doubt.ON_CHIP: times.on_chip,
        Doubt.HOST: times.host_open,
    }
    if doubt in columns:
        return bool((columns[doubt][shown] > 0).any())
    opcode = b"while" if doubt is Doubt.LOOP else b"conditional"
    rows = control.running(opcode)
    return any(doubt is Doubt.BRANCH or program.cost.loops.trips[row].trips is None for row in rows)
