"""The programs of the processes of a job, as their reports give them: one for each group of processes that agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jaxstage_ext.core.targets.target import LOCAL
from jaxstage_ext.program.comparing.comparison_figures import saved_figures
from jaxstage_ext.program.comparing.comparison_table import Comparison
from jaxstage_ext.program.comparing.earlier import by_label
from jaxstage_ext.program.kinds import saved
from jaxstage_ext.program.program import Program

if TYPE_CHECKING:
    from jaxstage_ext.processes.staged.staged_processes import StagedProcesses
    from jaxstage_ext.program.program_elsewhere import ProgramElsewhere

CODE, COMPARE = "code", "compare"


@dataclass(frozen=True)
class ReportOfGroup:
    """What one process of a group tells of a call.

    Attributes:
      json: of its `Inspection.to_json`.
      label: what the group is called, "processes 0 and 2"; "" where there is but one group.
      notes: what a reader has to know of it.
      views: the tabs that its Inspection has in that process.
      elsewhere: what answers these, by the label of the target there; None where nothing does.
      urgent: how many of the notes, the first, say that something is wrong.
    """

    json: str
    label: str
    notes: Sequence[str]
    views: Mapping[str, Sequence[str]] = field(default_factory=dict)
    elsewhere: Callable[[str], ProgramElsewhere] | None = None
    urgent: int = 0


def process_programs(groups: Sequence[ReportOfGroup], staged: StagedProcesses) -> Mapping[str, Program]:
    """The programs of a call by label: of each group, and of each of its targets.

    Raises ValueError for a report that cannot be read.
    """
    programs = [program for group in groups for program in _of_group(group)]
    for program in programs:
        program.processes = staged
    if not any(group.label for group in groups):
        return programs[0].targets
    table = _compared(programs, staged)
    labelled = by_label(programs)
    for row, program in enumerate(programs):
        _stand_beside(program, row, table)
    return labelled


def _of_group(group: ReportOfGroup) -> list[Program]:
    programs = list(saved.opened(group.json).targets.values())
    for program in programs:
        summary = program.saved_summary
        assert summary is not None
        name = f"{summary['name']} · {group.label}" if group.label else summary["name"]
        program.saved_summary = {**summary, "name": name, "notes": [*group.notes, *summary["notes"]]}
        if group.urgent:
            program.saved_summary["urgent"] = group.urgent
        if group.elsewhere is not None:
            program.elsewhere = group.elsewhere(program.label)
            program.saved_summary["views"] = list(group.views.get(program.label, summary["views"]))
        if group.label:
            is_local = program.label == LOCAL.name
            program.label = group.label if is_local else f"{program.label} · {group.label}"
    return programs


def _compared(programs: Sequence[Program], staged: StagedProcesses) -> Mapping[str, Any]:
    """The table of all, a row a program, below what is to be known of all."""
    rows = [row for program in programs if (row := saved_figures(program)) is not None]
    return dict(Comparison.of(programs[0].name, rows, staged.verdict).to_dict())


def _stand_beside(program: Program, row: int, table: Mapping[str, Any]) -> None:
    """Make a program one of several in every view."""
    summary = program.saved_summary
    assert summary is not None
    compare: Any = {"row": row} if row else {"row": 0, "before": 0, **table}
    views = [*summary["views"]]
    if COMPARE not in views:
        views.insert(views.index(CODE) + 1 if CODE in views else 0, COMPARE)
    program.saved_summary = {**summary, "compare": compare, "views": views}
    program.saved_comparison = table
