"""The reports of the groups of processes that agree: one is asked for of each, and made into Inspections."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.notebook.several.engine_program import AskedJob, EngineProgram
from jaxstage_ext.processes.program_texts import ProgramTexts
from jaxstage_ext.processes.staged import staged_wording
from jaxstage_ext.processes.staged.process_staging import CallStaging, ProcessStaging, StagingError, StagingErrorKind
from jaxstage_ext.processes.staged.staged_groups import StagedGroup, disagreements, staged_groups
from jaxstage_ext.processes.staged.staged_processes import StagedProcesses
from jaxstage_ext.program.kinds.process_programs import ReportOfGroup, process_programs

REPORT = "jaxstage_ext.notebook.several.staged_in_engine:report"


@dataclass(frozen=True)
class StagedCell:
    """What the processes have told of a cell.

    Attributes:
      handle: what they keep it under.   stage: the last stage that was asked for.
      processes: what each told, by index.   source: whether saved forms hold source.
      waited: seconds until all had told.
    """

    handle: str
    stage: str
    processes: Mapping[int, ProcessStaging]
    source: bool | None = None
    waited: float = 0.0

    @property
    def count(self) -> int:
        """How many calls the cell has, in the process that has most."""
        return max((len(one.calls) for one in self.processes.values()), default=0)

    def calls(self, number: int) -> dict[int, CallStaging]:
        """A call in each process that has it."""
        return {at: one.calls[number] for at, one in self.processes.items() if number < len(one.calls)}

    def errors(self, number: int) -> dict[int, StagingError]:
        """Why processes have no artefact of a call."""
        own = {at: call.error for at, call in self.calls(number).items() if call.error is not None}
        whole = {at: one.error for at, one in self.processes.items() if one.error is not None}
        return dict(sorted((whole | own).items()))


def inspections(job: AskedJob, cell: StagedCell) -> tuple[Inspection, ...]:
    """An Inspection of each call of a cell, whose `targets` has those of the other groups."""
    made = (_inspection(job, cell, number) for number in range(cell.count))
    return tuple(one for one in made if one is not None)


def _inspection(job: AskedJob, cell: StagedCell, number: int) -> Inspection | None:
    groups = staged_groups(_with_whole_errors(cell, number))
    good = [group for group in groups if group.error is None]
    holders = {group.processes: _holder(group, cell.calls(number)) for group in groups}
    reports = _reports(job, cell, number, holders.values(), has_texts=len(good) > 1)
    texts = {
        group.processes[0]: text
        for group in groups
        if (told := reports.get(holders[group.processes])) is not None
        and (text := _texts(told, group.processes[0])) is not None
    }
    hosts = {at: one.host for at, one in cell.processes.items()}
    staged = StagedProcesses(
        cell.stage,
        groups,
        disagreements(groups, hosts, texts),
        cell.errors(number),
        {at: call.seconds for at, call in cell.calls(number).items()},
        {at: one.elapsed for at, one in cell.processes.items()},
        cell.waited,
        cell.calls(number),
    )
    shown = [
        ReportOfGroup(
            told["json"],
            staged.label(group),
            staged.notes(group),
            told["views"],
            functools.partial(EngineProgram, job, holders[group.processes], cell.handle, number),
            staged.urgent,
        )
        for group in groups
        if (told := reports.get(holders[group.processes])) is not None
    ]
    if not shown:
        return None
    if len(shown) == 1:
        shown = [replace(shown[0], label="")]
    return Inspection.each(process_programs(shown, staged))[0]


def _holder(group: StagedGroup, calls: Mapping[int, CallStaging]) -> int:
    """The process that is asked about a program: the one that compiled it, whose workers know it; else the first."""
    compilers = (at for at in group.processes if at in calls and calls[at].compiled_by == at)
    return next(compilers, group.processes[0])


def _with_whole_errors(cell: StagedCell, number: int) -> dict[int, CallStaging]:
    """A call in each process, also where the cell failed before it."""
    calls = cell.calls(number)
    name = next((call.name for call in calls.values()), "")
    lacking = {at: one.error for at, one in cell.processes.items() if at not in calls}
    other = StagingError(StagingErrorKind.REFUSED, "", staged_wording.NO_SUCH_CALL)
    made = {at: CallStaging(name, name, "", {}, {}, None, error or other) for at, error in lacking.items()}
    return dict(sorted((calls | made).items()))


def _reports(
    job: AskedJob, cell: StagedCell, number: int, holders: Iterable[int], has_texts: bool
) -> dict[int, Mapping[str, Any]]:
    """Of each of these processes that has staged the call at all."""
    asked = sorted(set(holders) & cell.calls(number).keys())
    if not asked:
        return {}
    answers = job.ask(REPORT, cell.handle, number, cell.source, has_texts, only=asked)
    return {one.process: one.value for one in answers if isinstance(one.value, Mapping)}


def _texts(report: Mapping[str, Any], process: int) -> ProgramTexts | None:
    packed = report["texts"]
    return replace(ProgramTexts.unpacked(packed), process=process) if packed is not None else None
