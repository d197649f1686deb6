"""What several processes have staged of one call: the groups that agree, and why the others differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jaxstage_ext.processes import preflight_report
from jaxstage_ext.processes.disagreement import Disagreement, Group
from jaxstage_ext.processes.staged import staged_wording as wording
from jaxstage_ext.processes.staged.process_staging import CallStaging, StagingError
from jaxstage_ext.processes.staged.shared_compiles import compile_notes, has_readers
from jaxstage_ext.processes.staged.staged_groups import StagedGroup
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.process_names import process_names


@dataclass(frozen=True, eq=False)
class StagedProcesses:
    """One call as each process of a job has staged it.

    Attributes:
      stage: the last stage that was asked for.
      groups: the processes that came to the same, the largest group first; those with an error last.
      disagreements: why the groups differ; empty where all agree.
      errors: by process, why it has nothing to show.
      seconds: by process, the seconds of each of its stages.
      elapsed: by process, the seconds of everything that it did for the cell.
      waited: seconds from asking the processes to having what they staged.
      calls: by process, what it tells of the call.
    """

    stage: str
    groups: Sequence[StagedGroup]
    disagreements: Sequence[Disagreement]
    errors: Mapping[int, StagingError]
    seconds: Mapping[int, Mapping[str, float]]
    elapsed: Mapping[int, float] = field(default_factory=dict)
    waited: float = 0.0
    calls: Mapping[int, CallStaging] = field(default_factory=dict)

    @property
    def asked(self) -> Group:
        """The indices of the processes that were asked."""
        staged = (process for group in self.groups for process in group.processes)
        return tuple(sorted({*staged, *self.errors}))

    @property
    def agree(self) -> bool:
        """Whether all that were asked came to the same, with all that decides it known, and without an error."""
        return len(self.groups) == 1 and not self.errors and bool(self.groups[0].call.digests)

    @property
    def verdict(self) -> str:
        """The first of `notes`: who differs, in what and why, or that all agree; "" where there is nothing to say."""
        return next(iter(self.notes()), "")

    @property
    def urgent(self) -> int:
        """How many of `notes`, the first, say how processes differ; 0 where none does."""
        return sum(len(wording.difference(each, self._is_shared)) for each in self.disagreements)

    def label(self, group: StagedGroup) -> str:
        """What a group is called: "process 1", "processes 0, 2 and 3"."""
        return process_names(group.processes)

    def notes(self, group: StagedGroup | None = None) -> list[str]:
        """What a reader has to know, in sentences, of all of it or beside the program of one group."""
        several = len(self.groups) > 1
        made = [line for each in self.disagreements for line in wording.difference(each, self._is_shared)]
        made += self._agreement()
        made += compile_notes([group.processes for group in self.groups if group.error is None], self.calls)
        made += [line for line in self._failures() if not any(line in other for other in made)]
        if group is not None and several:
            made.append(wording.shown(group.processes, self.asked))
        return made

    @property
    def _is_shared(self) -> bool:
        """Whether the program may run on devices of several processes."""
        return any(group.call.spans is not False for group in self.groups if group.error is None)

    def _agreement(self) -> list[str]:
        good = [group for group in self.groups if group.error is None]
        made = [wording.not_compared(group.processes) for group in good if not group.call.digests]
        if len(self.groups) == 1:
            [group] = self.groups
            if group.error is not None:
                made += [wording.alike_error(group.processes)]
            elif group.call.digests:
                made += [wording.alike(group.processes, self.stage)]
        elif len(good) > 1 and not self._is_shared:
            made += [wording.own_program(self.asked)]
        return made

    def _failures(self) -> Iterator[str]:
        """What the processes with an error say, where no disagreement says it."""
        groups: dict[StagingError, list[int]] = {}
        for process, error in self.errors.items():
            groups.setdefault(error, []).append(process)
        told = {process for found in self.disagreements for process in found.ends}
        for error, group in groups.items():
            if error.name or not told.issuperset(group):
                yield f"{wording.begun(wording.failed(tuple(group), error))}."

    def table(self) -> Table:
        """A row a process: the group that it is in, counted from 1, the seconds of each stage, and its error.

        Where a process has read what another compiled, the seconds of the compile are that one's, whose index is in
        "compiled by".
        """
        stages = list(dict.fromkeys(stage for each in self.seconds.values() for stage in each))
        number = {process: at for at, group in enumerate(self.groups, 1) for process in group.processes}
        columns = {"process": Column(list(self.asked)), "group": Column([number.get(each) for each in self.asked])}
        for stage in stages:
            columns[stage] = Column([self.seconds.get(each, {}).get(stage) for each in self.asked], "s")
        if has_readers(self.calls):
            columns["compiled by"] = Column([self._compiled_by(each) for each in self.asked])
        columns["error"] = Column([self._error(each) for each in self.asked])
        return Table("processes", columns, self._unknown(stages))

    def _compiled_by(self, process: int) -> int | None:
        call = self.calls.get(process)
        return call.compiled_by if call is not None else None

    def _error(self, process: int) -> str:
        error = self.errors.get(process)
        return wording.failed((process,), error) if error is not None else ""

    def _unknown(self, stages: Sequence[str]) -> dict[tuple[int, str], str]:
        rows = list(enumerate(self.asked))
        reasons = {
            (row, stage): self._error(process) or "JAX gives no time"
            for row, process in rows
            for stage in stages
            if stage not in self.seconds.get(process, {})
        }
        if has_readers(self.calls):
            unknown = [(row, each) for row, each in rows if self._compiled_by(each) is None]
            reasons |= {(row, "compiled by"): self._error(each) or wording.NO_PROCESS for row, each in unknown}
        return reasons | {(row, "group"): self._error(each) for row, each in rows if each in self.errors}

    def __repr__(self) -> str:
        lines = self.notes()
        for found in self.disagreements:
            lines += preflight_report.differing_lines(found)
        return "\n".join(lines)
