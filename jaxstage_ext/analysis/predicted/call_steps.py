"""The steps of one call: XLA's schedule where it has one, the order of the module that is shown elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from jaxstage_ext.analysis.predicted.instruction_bounds import InstructionBounds
from jaxstage_ext.analysis.predicted.predicted_steps import CallStep, EstimateSource, Role, Stream
from jaxstage_ext.analysis.predicted.schedule_match import ScheduleMatch
from jaxstage_ext.ir.hlo.module import COLLECTIVE_KINDS, Module
from jaxstage_ext.ir.schedules.written_schedule import ComputationSchedule, WrittenSchedule, is_weight
from jaxstage_ext.ir.wire.protowire import Longs

_RUNS = (b"while", b"conditional", b"call")
_MOST_DEEP = 40
_LATE = 0.5
"""Microseconds after a beginning without work that show that XLA placed it as early as its end demands."""
_KINDS = tuple(kind.decode() for kind in COLLECTIVE_KINDS)


@dataclass(eq=False)
class CallSteps:
    """Makes the steps of a call.

    Attributes:
      trips: how often each loop runs, by its row; None where that is unknown.
      own: microseconds by row that XLA gives beside a schedule, such as a TPU's cycles.
      unknown: names of instructions without a time, and where they run, filled as steps are made.
    """

    bounds: InstructionBounds
    trips: Mapping[int, int | None]
    written: WrittenSchedule | None = None
    match: ScheduleMatch | None = None
    own: Mapping[int, float] = field(default_factory=dict)
    unknown: dict[str, Stream] = field(default_factory=dict)

    @property
    def module(self) -> Module:
        return self.bounds.module

    def entry(self) -> tuple[CallStep, ...]:
        """The steps of one run of the module."""
        return self._computation(self.module.entry, 0)

    @cached_property
    def _schedules(self) -> dict[int, ComputationSchedule]:
        """XLA's schedules by the computation that most of their instructions are in."""
        found: dict[int, ComputationSchedule] = {}
        for schedule in self.written.computations if self.written else ():
            rows = self._rows(schedule)
            inside = self.module.computation[rows[rows >= 0]]
            if len(inside):
                found[self._outer(int(np.argmax(np.bincount(inside))))] = schedule
        return found

    def _outer(self, computation: int) -> int:
        """The computation that the scheduler saw: later passes move parts of it into calls."""
        ops = self.module
        callers = ops.called.owner[ops.called.values == computation]
        if len(callers) == 1 and ops.opcode[callers[0]] == b"call" and computation != ops.entry:
            return self._outer(int(ops.computation[callers[0]]))
        return computation

    def _known(self, schedule: ComputationSchedule) -> Longs:
        """The rows of a schedule's instructions in its own module, -1 for an unknown one."""
        return self.match.scheduled.rows_of_ids(schedule.ids) if self.match else np.full(len(schedule), -1, np.int64)

    def _rows(self, schedule: ComputationSchedule) -> Longs:
        """Those in the module that is shown, -1 for one that is not in it."""
        return np.append(self.match.row, -1)[self._known(schedule)] if self.match else self._known(schedule)

    def _computation(self, number: int, depth: int) -> tuple[CallStep, ...]:
        if depth > _MOST_DEEP:
            return ()
        schedule = self._schedules.get(number)
        return self._by_bounds(number, depth) if schedule is None else self._by_xla(schedule, depth)

    def _by_xla(self, schedule: ComputationSchedule, depth: int) -> tuple[CallStep, ...]:
        rows, known, cost = (column.tolist() for column in (self._rows(schedule), self._known(schedule), schedule.cost))
        at = {row: place for place, row in enumerate(known) if row >= 0}
        weights = is_weight(schedule.cost).tolist()
        steps: list[CallStep] = []
        for place, (row, own) in enumerate(zip(rows, known, strict=True)):
            step = CallStep(row, self._name(row, own), cost=cost[place], memory=int(schedule.memory[place]))
            opcode, begun = self._written(own)
            if row >= 0 and self.module.opcode[row] in _RUNS:
                step = self._running(row, depth, step)
            elif opcode.endswith(b"-start"):
                step = replace(step, role=Role.BEGIN)
            elif opcode.endswith(b"-done") and begun in at:
                step = self._end(replace(step, begun=at[begun]), steps, schedule, place)
            elif weights[place]:
                step = self._work(step)
            elif opcode.startswith(COLLECTIVE_KINDS) or (row >= 0 and row in self.bounds.exchanging):
                step = replace(step, stream=Stream.COLLECTIVE)
            steps.append(step)
        return tuple(steps)

    def _written(self, own: int) -> tuple[bytes, int]:
        """(opcode, first operand) of an instruction in the schedule's own module."""
        if own < 0 or self.match is None:
            return b"", -1
        scheduled = self.match.scheduled
        return bytes(scheduled.opcode[own]), (scheduled.operands[own] or [-1])[0]

    def _name(self, row: int, own: int) -> str:
        if row >= 0:
            return self.module.names[row].decode("utf-8", "replace")
        return self.match.scheduled.names[own].decode("utf-8", "replace") if own >= 0 and self.match else "?"

    def _end(self, step: CallStep, steps: list[CallStep], schedule: ComputationSchedule, place: int) -> CallStep:
        """What ends asynchronous work: XLA's latency for a collective, our bound for what it gives a weight."""
        begin, begun = steps[step.begun], step.begun
        row = begin.row if begin.row >= 0 else step.row
        if step.row < 0 <= begin.row:  # XLA made one instruction of both
            step = replace(step, row=begin.row, name=begin.name)
        stream = self.bounds.stream(row) if row >= 0 else Stream.BESIDE
        if begin.name.startswith(_KINDS):
            stream = Stream.COLLECTIVE
        latency = float(schedule.end[place] - schedule.end[begun])
        waits = begun + 1 < len(schedule) and schedule.start[begun + 1] - schedule.end[begun] > _LATE
        if stream is Stream.COLLECTIVE and not (waits and is_weight(np.array([latency]))[0]):
            hidden = replace(
                step, role=Role.END, stream=stream, at_most=latency, latency=min(latency, self._least(row))
            )
            return replace(hidden, latency=latency, at_most=None) if waits else hidden
        return self._bounded_end(replace(step, role=Role.END, stream=stream), row, begin.name)

    def _least(self, row: int) -> float:
        """Our bound of an instruction in microseconds, 0 where there is none."""
        least = self.bounds.microseconds(row) if row >= 0 else 0.0
        return 0.0 if math.isnan(least) else least

    def _bounded_end(self, step: CallStep, row: int, name: str) -> CallStep:
        latency = self.bounds.microseconds(row) if row >= 0 else math.nan
        if math.isnan(latency):
            self.unknown[name] = step.stream
            return replace(step, by=EstimateSource.UNKNOWN)
        return replace(step, latency=latency, by=EstimateSource.BOUND)

    def _by_bounds(self, number: int, depth: int) -> tuple[CallStep, ...]:
        ops, position = self.module, self.bounds.position
        rows = np.flatnonzero(ops.computation == number)
        if position is not None:
            rows = rows[position[rows] >= 0]
            rows = rows[np.argsort(position[rows], kind="stable")]
        at, steps = {row: place for place, row in enumerate(rows.tolist())}, list[CallStep]()
        for row in rows.tolist():
            opcode, step = (
                ops.opcode[row],
                CallStep(row, ops.names[row].decode("utf-8", "replace"), by=EstimateSource.BOUND),
            )
            begun = at.get((ops.operands[row] or [-1])[0], -1)
            if opcode in _RUNS:
                step = self._running(row, depth, step)
            elif opcode.endswith(b"-start"):
                step = replace(step, role=Role.BEGIN)
            elif opcode.endswith(b"-done") and 0 <= begun < len(steps):
                started = steps[begun].row
                stream = self.bounds.stream(started)
                step = self._bounded_end(replace(step, role=Role.END, begun=begun, stream=stream), started, step.name)
            else:
                step = self._work(step)
            steps.append(step)
        return tuple(steps)

    def _work(self, step: CallStep) -> CallStep:
        stream = Stream.COLLECTIVE if step.row in self.bounds.exchanging else Stream.COMPUTE
        if step.row in self.own:
            return replace(step, cost=self.own[step.row], by=EstimateSource.CYCLES, stream=stream)
        cost = self.bounds.microseconds(step.row) if step.row >= 0 else math.nan
        if math.isnan(cost):
            self.unknown[step.name] = stream
            return replace(step, cost=0.0, by=EstimateSource.UNKNOWN, stream=stream)
        return replace(step, cost=cost, by=EstimateSource.BOUND, stream=stream)

    def _running(self, row: int, depth: int, step: CallStep) -> CallStep:
        """A loop, the longest branch of a conditional, or a call: its steps in place of its own time."""
        ops = self.module
        called = [one for one in ops.called[row] if one >= 0]
        bodies = [CallStep(-1, "", Role.LOOP, body=self._computation(one, depth + 1)) for one in called]
        if ops.opcode[row] == b"while":
            return replace(step, role=Role.LOOP, cost=0.0, body=tuple(reversed(bodies)), count=self.trips.get(row))
        longest = max(bodies, key=_taken, default=None)
        branches = len(bodies) if ops.opcode[row] == b"conditional" else 0
        return replace(step, role=Role.LOOP, cost=0.0, body=(longest,) if longest else (), branches=branches)


def _taken(step: CallStep) -> float:
    """About how long a step takes, loops inside counted as often as they run."""
    return step.cost + (step.count or 1) * sum(_taken(one) for one in step.body)
