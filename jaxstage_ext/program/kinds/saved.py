"""Programs as a saved report, and read back from one: documents and numbers, no JAX objects."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from typing import Any

from jaxstage_ext.analysis.sharding import saved_shardings, sharding_forms
from jaxstage_ext.analysis.sharding.device_places import processes
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets.target import LOCAL, Target, TargetError, parse
from jaxstage_ext.core.targets.worker_requests import USUAL
from jaxstage_ext.program.comparing import comparison
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.head import summary
from jaxstage_ext.program.head.summary_form import ErrorSummary, Summary
from jaxstage_ext.program.kinds import saved_summary
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames, SourceSpan
from jaxstage_ext.report.saved import saved_form, saved_reading, saved_source
from jaxstage_ext.report.saved.json_form import BadForm, quoted
from jaxstage_ext.report.text.public_paths import public_json

_LONGEST_ERROR = 200


def report(own: Program, programs: Mapping[str, Program], source: bool | None = None) -> dict[str, Any]:
    """The programs of a call, by target, as a saved report; `own` is the one that opens. See `saved_form.report`.

    `source` is whether it holds source, None for the default.
    """
    made = parts(programs, source)
    for name, (head, _, _) in made.items():
        if (form := _sharded(programs[name])) is not None:
            head["shardings"] = form
    return saved_form.report(made, own.label, compared(own))


def _sharded(program: Program) -> dict[str, Any] | None:
    """The shardings of a program of several processes as they are saved: no other kernel has all of their devices."""
    known = program.saved_shardings or shardings.known(program)
    if known is None and program_devices.of_several_processes(program):
        with contextlib.suppress(RuntimeError, ValueError):  # of a call that was not lowered
            known = shardings(program)
    if known is None or processes(known.places) < 2:
        return None
    form = sharding_forms.plain(known)
    return None if form is None else public_json(dict(form))


def parts(programs: Mapping[str, Program], source: bool | None = None) -> dict[str, saved_form.Part]:
    """What a saved report holds of each of these programs, before it is packed; with or without source."""
    return {
        name: (dict(summary.summary(one)), one.frames, saved_source.kept(one.readable, source))
        for name, one in programs.items()
    }


def compared(own: Program) -> Mapping[str, Any]:
    """The table of all targets of a call, as it is saved."""
    table = own.saved_comparison
    return public_json(comparison.comparison(own).to_dict()) if table is None else table


def opened(text: str) -> SavedProgram:
    """The program of a saved report; `targets` has the others. Raises BadForm, a ValueError, for anything else."""
    saved = saved_reading.loads(text)
    try:
        table = dict(saved_summary.comparison_in(saved.compare, "compare")) if saved.compare else {}
        earlier = _earlier(saved.parts)
        programs = {name: _program(name, *part, table, len(saved.parts), earlier) for name, part in saved.parts.items()}
    except BadForm as error:
        raise BadForm(f"the saved inspection is damaged: {error}; save it again") from None
    for row, program in enumerate(programs.values()):
        program.targets, program.saved_row = programs, row
    return programs[saved.target]


def _program(
    name: str,
    head: dict[str, Any],
    frames: Frames,
    documents: Mapping[str, Document],
    table: Mapping[str, Any],
    targets: int,
    earlier: Collection[str],
) -> SavedProgram:
    where = f"target {quoted(name)}.summary"
    summary = saved_summary.summary_in(head, documents, targets, where)
    made = SavedProgram(name, summary, frames, documents, table, name in earlier)
    if (form := summary.pop("shardings", None)) is not None:
        made.saved_shardings = saved_shardings.shardings_in(form, f"{where}.shardings")
    return made


def _earlier(parts: Mapping[str, tuple[dict[str, Any], Frames, Mapping[str, Document]]]) -> list[str]:
    """The names of earlier versions, which the others are compared with: those from a row on, which the first says."""
    heads = [head.get("compare") for head, *_ in parts.values()]
    rows = [head["before"] for head in heads if isinstance(head, dict) and isinstance(head.get("before"), int)]
    return list(parts)[rows[0] :] if rows and rows[0] > 0 else []


class SavedProgram(Program):
    """One target of a saved call. What was not saved is unavailable, as for a call that JAX did not stage."""

    def __init__(
        self,
        name: str,
        head: Summary,
        frames: Frames,
        documents: Mapping[str, Document],
        table: Mapping[str, Any],
        is_earlier: bool = False,
    ) -> None:
        call, target = Call(_not_callable, name=head["name"]), _target(name, is_earlier)
        reached = [stage["name"] for stage in head["stages"]]  # none of a profile alone
        super().__init__(
            *stages.plan_each(call, reached[-1], (target,)) if reached else [Staged(call, [], target, USUAL)]
        )
        self.label, self.targets = name, {name: self}
        self.saved_summary, self.saved_comparison = head, table
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
        failed = self.saved_summary["error"] if self.saved_summary else None
        return _error(failed) if failed is not None else None


def _error(failed: ErrorSummary) -> StageError:
    span = None
    if (file := failed["file"]) is not None and (line := failed["line"]) is not None:
        cell = failed["label"] if failed["label"] != file else None
        span = SourceSpan(file, cell, "", line, 1, line, 0)
    return StageError(failed["stage"], failed["type"], failed["message"], span, failed["interrupted"])


def _target(label: str, is_earlier: bool) -> Target:
    """That of a label, which of a set of compile options may name it first, and of an earlier version need not."""
    name, _, _ = label.partition(" · ")
    try:
        target = parse(name)
    except TargetError as error:
        if is_earlier or "=" in label or " " in label:  # a set of options for the kernel's own device
            return LOCAL
        raise BadForm(" ".join(str(error).split())[:_LONGEST_ERROR]) from None
    if str(target) != name:
        raise BadForm(f"its target {quoted(name)} is not spelled as {str(target)!r}")
    return target


def _not_callable(*args: Any, **kwargs: Any) -> Any:
    raise ValueError("an inspection read from JSON has no function to run; inspect it again")
