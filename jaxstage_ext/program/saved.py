"""Programs as a saved report, and read back from one: documents and numbers, no JAX objects."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, cast

from jaxstage_ext.core import stages
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets.target import LOCAL, Target, TargetError, parse
from jaxstage_ext.program import comparison, summary
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.summary_form import Summary
from jaxstage_ext.report import saved_form
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames


def report(own: Program, programs: Mapping[str, Program]) -> dict[str, Any]:
    """The programs of a call, by target, as a saved report; `own` is the one that opens. See `saved_form.report`."""
    parts = {name: (dict(summary.summary(one)), one.frames, one.readable) for name, one in programs.items()}
    table = own.saved_comparison
    return saved_form.report(parts, str(own.target), comparison.comparison(own).to_dict() if table is None else table)


def opened(text: str) -> SavedProgram:
    """The program of a saved report; `targets` has the others. Raises ValueError for anything else."""
    parts, name, table = saved_form.loads(text)
    try:
        programs = {target: SavedProgram(target, *part, table) for target, part in parts.items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the saved inspection is damaged: {error}; save it again") from error
    for program in programs.values():
        program.targets = programs
    return programs[name]


class SavedProgram(Program):
    """One target of a saved call. What was not saved is unavailable, as for a call that JAX did not stage."""

    def __init__(
        self, name: str, head: dict[str, Any], frames: Frames, documents: Mapping[str, Document], table: dict[str, Any]
    ) -> None:
        call = Call(_not_callable, name=str(head.get("name", "")))
        names = [stage["name"] for stage in head["stages"]]
        super().__init__(*stages.plan_each(call, names[-1], (_target(name),)))
        self.saved_summary, self.saved_comparison = cast(Summary, head), table
        self.documents = documents
        self._frames = frames

    @property
    def frames(self) -> Frames:
        return self._frames

    @property
    def seconds(self) -> dict[str, float]:
        stages_of_then = self.saved_summary["stages"] if self.saved_summary else []
        return {stage["name"]: stage["seconds"] for stage in stages_of_then if stage["seconds"] is not None}

    @property
    def error(self) -> StageError | None:
        return saved_form.error_of(cast(dict[str, Any], self.saved_summary))


def _target(name: str) -> Target:
    with contextlib.suppress(TargetError):
        return parse(name)
    return LOCAL


def _not_callable(*args: Any, **kwargs: Any) -> Any:
    raise ValueError("an inspection read from JSON has no function to run; inspect it again")
