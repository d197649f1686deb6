"""When each step runs: one main stream in order, beside it what was begun and is waited for.

The sums are those of XLA's `LatencyHidingStatistics` (xla/service/latency_hiding_scheduler.cc in openxla/xla): the
costs of all instructions and, at each end, what its latency exceeds the time since its beginning, which is cut to whole
microseconds as there. XLA's own time stamps leave the idle time after the beginning, since it schedules backwards; a
device waits at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from jaxstage_ext.analysis.predicted.predicted_steps import CallStep, EstimateSource, Role, Stream


@dataclass(frozen=True)
class Drawn:
    """One step, or what ran between a beginning and its end. Times in microseconds; `times` is how often it runs."""

    step: CallStep
    start: float
    end: float
    times: float
    is_marker: bool = False
    """Whether it is the instruction itself that begins or ends work, not the work."""
    waited: float = 0.0
    """Of work that was begun, how long its end waits for it."""


@dataclass(frozen=True)
class DrawnLoop:
    """One iteration of a loop, or a branch: its place, and how often it runs each time; None where that is unknown."""

    step: CallStep
    start: float
    end: float
    count: int | None
    times: float
    seconds: float
    """Microseconds of one iteration, in which loops inside count as often as they run."""


@dataclass
class Replayed:
    """A call on one device. Times in microseconds.

    Attributes:
      total: of the whole call, loops as often as they run.    exposed: of it, the waits for collectives.
      weighted: of it, what is a bound of ours.    memory: (time, bytes) where a step begins.
      is_known: whether no loop's count is unknown.
    """

    drawn: list[Drawn] = field(default_factory=list)
    loops: list[DrawnLoop] = field(default_factory=list)
    memory: list[tuple[float, int]] = field(default_factory=list)
    total: float = 0.0
    exposed: float = 0.0
    weighted: float = 0.0
    is_known: bool = True


def replay(steps: Sequence[CallStep]) -> Replayed:
    """The steps of a call, one iteration of each loop drawn."""
    made = Replayed()
    made.total, _ = _run(steps, made, 0.0, 1.0)
    return made


def _run(steps: Sequence[CallStep], made: Replayed, begin: float, times: float) -> tuple[float, float]:
    """(time of one run of the steps, length of what is drawn of it), drawn from `begin` on."""
    real, drawn = 0.0, begin
    begun: dict[int, tuple[float, float]] = {}
    for place, step in enumerate(steps):
        if step.memory is not None:
            made.memory.append((drawn, step.memory))
        if step.role is Role.LOOP:
            taken, length = _loop(step, made, drawn, times)
            real, drawn = real + taken, drawn + length
            continue
        waited = 0.0
        if step.role is Role.END and step.begun in begun:
            since, since_drawn = begun[step.begun]
            waited = max(0.0, step.latency - (real + step.cost - _counted(since, step)))
            _draw_work(steps, step, made, (since_drawn, drawn + waited), times, waited)
        real, drawn = real + waited, drawn + waited
        if step.cost:
            is_marker = step.role is not Role.WORK
            made.drawn.append(Drawn(step, drawn, drawn + step.cost, times, is_marker))
            made.weighted += step.cost * times * (step.by is EstimateSource.BOUND and not is_marker)
            made.exposed += step.cost * times * (step.stream is Stream.COLLECTIVE and not is_marker)
        real, drawn = real + step.cost, drawn + step.cost
        if step.role is Role.BEGIN:
            begun[place] = (real, drawn)
    return real, drawn - begin


def _counted(since: float, end: CallStep) -> float:
    """The time from which a latency counts: XLA's in whole microseconds, ours to the fraction."""
    return math.trunc(since) if end.by is EstimateSource.XLA else since


def _draw_work(
    steps: Sequence[CallStep],
    end: CallStep,
    made: Replayed,
    span: tuple[float, float],
    times: float,
    waited: float,
) -> None:
    begin, (start, until) = steps[end.begun], span
    if end.at_most is None:
        until = min(until, max(start, start + end.latency - end.cost))
    is_bound = end.by is EstimateSource.BOUND or (end.at_most is not None and waited > 0)
    shown = end if begin.row < 0 <= end.row else begin
    work = replace(end, row=shown.row, name=shown.name, by=EstimateSource.BOUND if is_bound else end.by)
    made.drawn.append(Drawn(work, start, until, times, waited=waited))
    made.exposed += waited * times * (end.stream is Stream.COLLECTIVE)
    made.weighted += waited * times * is_bound


def _loop(step: CallStep, made: Replayed, begin: float, times: float) -> tuple[float, float]:
    count = 1 if step.count is None else step.count
    made.is_known &= step.count is not None
    if not count:
        return 0.0, 0.0
    taken, length = _run(step.body, made, begin, times * count)
    if step.count != 1 or step.branches:
        made.loops.append(DrawnLoop(step, begin, begin + length, step.count, times, taken))
    return taken * count, length
