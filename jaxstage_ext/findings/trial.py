"""A finding's change made and compiled beside the program as written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.recompile import recompiled_buffers
from jaxstage_ext.core.stage.stage_definition import COMPILE, TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Stage, Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.findings import finding_wording as wording
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.finding import Finding, Stake, StakeMeasure, TrialOutcome
from jaxstage_ext.program.comparing.difference_table import Differences, differences
from jaxstage_ext.program.comparing.paired_figures import PairedFigure, paired_figures
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import html_of
from jaxstage_ext.report.unavailable import Unavailable

_SAME = 0.005
"""Of the whole, a gain or loss that is none."""
_TIMES = ("trace time", "lower time", "compile time")
"""Of two processes, one of which had the program already."""
_SAME_TIME = 0.1
"""The same of the time of a compile, which is timed once."""
_COMPILE_TIME = "compile time"
_COSTS, _NOTABLE = ("memory needed", "FLOPs", "bytes moved", "sent", "lower bound"), 0.05
"""Figures that a change may pay with, and the growth of one that is told."""
_CHANGED = ("changed", "removed", "added")


def _itself(program: Program) -> Program:
    return program


@dataclass(frozen=True, eq=False)
class Trial:
    """The program as written beside the changed one."""

    finding: Finding
    before: Program = field(repr=False)
    after: Program = field(repr=False)
    timed: Program | None = field(default=None, repr=False)
    """Where the time of a compile is what matters, the program as written, compiled by a worker too."""
    view: Callable[[Program], Any] = field(default=_itself, repr=False)

    @property
    def inspection(self) -> Any:
        """The changed program as an Inspection."""
        return self.view(self.after)

    @cached_property
    def figures(self) -> list[PairedFigure]:
        """All figures of both."""
        if memory.is_known(self.before) and recompiled_buffers.came_with_compile(self.after.staged):
            memory(self.after)
        return paired_figures(self.before, self.after)

    @cached_property
    def changed(self) -> list[PairedFigure]:
        """Those that are known of both and differ, without the call and times, but for one that is at stake."""
        shown = [one for one in self.figures if one.group != "call" and one.title not in _TIMES]
        if self.finding.stake.measure is StakeMeasure.COMPILE:
            times = paired_figures(self._written, self.after)
            shown = [*(one for one in times if one.title == _COMPILE_TIME), *shown]
        return [
            one for one in shown if not one.is_same and one.before.value is not None and one.after.value is not None
        ]

    @property
    def _written(self) -> Program:
        """The program as written, from the same kind of process as the changed one where times are compared."""
        is_timed = self.finding.stake.measure is StakeMeasure.COMPILE
        return self.timed if is_timed and self.timed is not None else self.before

    @cached_property
    def costs(self) -> list[PairedFigure]:
        """The figures that the change makes worse by what is worth telling."""
        grown = ((one, one.difference or 0.0) for one in self.changed if one.title in _COSTS)
        return [one for one, by in grown if by > _NOTABLE * float(one.before.value or 0)]

    @cached_property
    def differences(self) -> Differences:
        """How many lines of each stage differ; `.text("hlo")` are the lines."""
        return differences(self.before, self.after)

    @cached_property
    def is_same_hlo(self) -> bool:
        """Whether XLA makes the same of both, whatever the function is called."""
        hlo = self.differences.documents.get("hlo")
        if hlo is None:
            return False
        is_changed = any(what in _CHANGED and 0 not in rows for what, *rows, _ in hlo.lines)
        return not is_changed and _head(self.before) == _head(self.after)

    @cached_property
    def realised(self) -> float | None:
        """What the change gains, in the unit of the finding's stake; negative where it loses. None unknown.

        Of a call's host time, Python alone can be timed: that is no part of what nobody could say before.
        """
        if self.finding.stake.measure is StakeMeasure.HOST and self.finding.stake.most is None:
            return None
        before, after = (stakes.figure(one, self.finding.stake.measure) for one in (self._written, self.after))
        return None if before is None or after is None else before - after

    @cached_property
    def outcome(self) -> TrialOutcome:
        """Whether the change pays."""
        gained, whole = self.realised, stakes.figure(self.before, self.finding.stake.measure)
        if self.finding.stake.measure is not StakeMeasure.COMPILE and self.is_same_hlo and not gained:
            return TrialOutcome.NO_CHANGE
        if gained is None:
            return TrialOutcome.UNKNOWN
        least = (_SAME_TIME if self.finding.stake.measure is StakeMeasure.COMPILE else _SAME) * (whole or 0.0)
        return TrialOutcome.PAYS if gained > least else TrialOutcome.WORSE if gained < -least else TrialOutcome.NO_GAIN

    @property
    def text(self) -> str:
        """What the change gains and what it costs, in a sentence."""
        measure = self.finding.stake.measure
        whole = None if measure is StakeMeasure.HOST else stakes.figure(self._written, measure)
        return wording.outcome(self.outcome, self.realised, Stake(measure, whole=whole), self.costs)

    @property
    def table(self) -> Table:
        """The figures that differ, before and after."""
        columns = {
            "figure": Column([one.title for one in self.changed]),
            "as written": Column([wording.figure(one.before, one.unit) for one in self.changed]),
            "changed": Column([wording.figure(one.after, one.unit) for one in self.changed]),
            "difference": Column([wording.difference(one) for one in self.changed]),
        }
        return Table("trial", columns, notes=(self.text,))

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of([self.table])


def of(program: Program, finding: Finding) -> Trial | None:
    """The trial of a finding of a program; None where nobody tried it."""
    known: Trial | None = program.results.known(("trial", finding.key))
    return known


def tried(program: Program, finding: Finding, progress: Progress | None = None) -> Trial:
    """The trial of a finding, made once. Raises Unavailable where the change cannot be made or does not compile."""
    if finding.change is None or finding.change.stage is None:
        raise Unavailable(wording.CANNOT_BE_TRIED)
    stage = finding.change.stage

    def compute() -> Trial:
        changed = changed_program(program, stage)
        is_timed = finding.stake.measure is StakeMeasure.COMPILE and program.target.is_local
        return Trial(finding, program, changed, changed_program(program, _as_written) if is_timed else None)

    return program.results.once(("trial", finding.key), compute)


def keep(program: Program, finding: Finding, after: Program) -> Trial:
    """The trial of a finding whose change was compiled while it was looked for."""
    made: Trial = program.results.once(("trial", finding.key), lambda: Trial(finding, program, after))
    return made


def changed_program(program: Program, change: Callable[[Staged], Staged]) -> Program:
    """The program with a change, compiled in a worker.

    Raises Unavailable where the kernel's own device cannot be compiled for there, or the changed program does not
    compile.
    """
    staged = change(program.staged)
    staged.target = cross_compile.isolated(program.staged.target)
    if staged.stage(COMPILE) is None:
        staged.stages.append(Stage(COMPILE))
    changed = Program(staged)
    changed.advance()
    if changed.error is not None:
        raise Unavailable(wording.does_not_compile(changed.error))
    changed.label = wording.CHANGED
    return changed


def _as_written(staged: Staged) -> Staged:
    return rematerialization.lowered_anew(staged, unwrap(staged.value(TRACE)))


def _head(program: Program) -> str:
    """What the module's first line says beside its name, such as which arguments results reuse."""
    return program.documents["hlo"].lines[0].partition(", ")[2]
