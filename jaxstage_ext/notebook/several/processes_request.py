"""A magic of a stage with `--processes`: its cell runs in the engines, which stage its calls; the kernel shows them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.ir.sources.source import cell_of
from jaxstage_ext.notebook.cells.toplevel_await import awaits
from jaxstage_ext.notebook.engine_cells import px_labels
from jaxstage_ext.notebook.failures import interrupts_in_one_line
from jaxstage_ext.notebook.lines import command_line
from jaxstage_ext.notebook.magic_request import MagicRequest
from jaxstage_ext.notebook.several.sent_cell import SentCell
from jaxstage_ext.processes.ended_wording import joined
from jaxstage_ext.processes.engines.engine_answer import FailureKind
from jaxstage_ext.processes.staged import staged_wording as wording
from jaxstage_ext.processes.staged.process_staging import ProcessStaging, StagingError, StagingErrorKind
from jaxstage_ext.store import cache

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.notebook.several.group_reports import StagedCell
    from jaxstage_ext.processes.engines.engine_answer import EngineAnswer
    from jaxstage_ext.processes.engines.engine_job import EngineJob

STAGE = "jaxstage_ext.notebook.several.staged_in_engine:stage_cell"
FORGET = "jaxstage_ext.processes.inside.engine_guard:forget_programs"


class ProcessesRequest(MagicRequest):
    """One use of a magic with `--processes`. Raises UsageError for a line that cannot be."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        for is_given, why in ((self.options.run, wording.RUN), (self.options.vs, wording.VERSUS)):
            if is_given:
                raise UsageError(why)
        self.on_line = command_line.expressions(self.asked.code)

    async def run_cell(self, line: str, cell: str) -> None:
        """Stage the calls of a cell in the processes, and show what came of it."""
        self._check_no_inner_magic(cell)
        if awaits(self.ip, self.asked.code, cell):
            raise UsageError(wording.AWAITS)
        if self.from_toolbar:
            python, typed, number = *self.running_cell.body(cell), 0
        else:
            python, typed, number = self.running_cell.source(self.kind, line, cell)
        with interrupts_in_one_line(wording.INTERRUPTED):
            self._staged(self._sent(line, cell, python, typed, number))

    async def run_line(self, line: str, local_ns: dict[str, Any] | None, frame: FrameType | None) -> Any:
        """Stage the calls of a line magic. Returns the Inspection where the line is assigned."""
        if not self.on_line:
            raise UsageError(f"name a call to {self.kind}, for example %{self.kind} --processes loss(w, x)")
        file, text, _ = self.placed_on(frame, line)
        number = frame.f_lineno if frame is not None and cell_of(file) is not None else 1
        python = "#\n" * (number - 1) + f"# %{self.kind} {line}\n"
        with interrupts_in_one_line(wording.INTERRUPTED):
            found = self._staged(self._sent(line, "", python, python, number))
        if not self.is_assigned(text):
            return None
        return found[0] if len(found) == 1 else found

    def _sent(self, line: str, cell: str, python: str, typed: str, magic_line: int) -> SentCell:
        known = self.running_cell.number, self._cell_id(), px_labels(self.ip), cache.enabled()
        return SentCell(self.kind, line, cell, python, typed, magic_line, *known)

    @staticmethod
    def _cell_id() -> str | None:
        from jaxstage_ext.ir.sources import run_cells

        running = run_cells.at_work()
        return running.id if running is not None else None

    def _staged(self, sent: SentCell) -> tuple[Inspection, ...]:
        """The Inspections of the calls, which are bound and shown."""
        from jaxstage_ext.notebook.several.group_reports import inspections

        job = self._job()
        cell = self._asked(job, sent)
        self._print(cell)
        found = inspections(job, cell)
        if any(each.processes is not None and each.processes.disagreements for each in found):
            job.ask(FORGET)
        if not found:
            raise UsageError(joined(failures(cell)))
        self.bind(found[0] if len(found) == 1 else found)
        self._show(found)
        if all(one.error is not None for each in found for one in each.targets.values()):
            raise UsageError(joined(failures(cell)))
        return found

    def _job(self) -> EngineJob:
        """The job, which has the processes that the line names. Raises UsageError."""
        from jaxstage_ext.processes.engines.engine_errors import ProcessesError
        from jaxstage_ext.processes.engines.engine_job import current_job

        try:
            job = current_job()
        except ProcessesError as error:
            raise UsageError(str(error)) from None
        if (asked := self.options.processes) and max(asked) >= job.size:
            raise UsageError(wording.unasked(asked, job.size))
        return job

    def _asked(self, job: EngineJob, sent: SentCell) -> StagedCell:
        from jaxstage_ext.notebook.several.group_reports import StagedCell
        from jaxstage_ext.processes.engines.engine_errors import ProcessesError
        from jaxstage_ext.report.saved import saved_source

        began, handle = time.perf_counter(), uuid.uuid4().hex
        try:
            answers = job.ask(STAGE, sent.to_dict(), handle, only=self.options.processes or None)
        except ProcessesError as error:
            raise UsageError(str(error)) from None
        told = {answer.process: staging_of(answer) for answer in answers}
        return StagedCell(handle, self.kind, told, saved_source.is_kept(), time.perf_counter() - began)

    def _print(self, cell: StagedCell) -> None:
        """What the cell has printed in the processes, once where it is the same in all."""
        if self.options.quiet:
            return
        by_text: dict[str, list[int]] = {}
        for process, one in cell.processes.items():
            if one.printed:
                by_text.setdefault(one.printed, []).append(process)
        for text, group in by_text.items():
            print(wording.printed(tuple(group), text, len(group) == len(cell.processes)), end="")

    def _show(self, found: Sequence[Inspection]) -> None:
        from jaxstage_ext.notebook import staging

        if self.options.quiet:
            return
        failure = staging.show_made([one.program for each in found for one in each.targets.values()])
        if failure is not None:
            raise failure


def staging_of(answer: EngineAnswer) -> ProcessStaging:
    """What a process told; that it told nothing where asking it failed."""
    if answer.failure is None and isinstance(answer.value, Mapping):
        return ProcessStaging.from_dict(answer.value, answer.process)
    failure = answer.failure
    if failure is None:
        error = StagingError(StagingErrorKind.UNREACHED, "", "")
    else:
        kind = StagingErrorKind.ENDED if failure.kind is FailureKind.DIED else StagingErrorKind.UNREACHED
        error = StagingError(kind, failure.error, failure.message)
    return ProcessStaging(answer.process, "", (), error)


def failures(cell: StagedCell) -> list[str]:
    """Why no process has staged anything, one line an error."""
    by_error: dict[StagingError, list[int]] = {}
    for process, one in cell.processes.items():
        for error in [one.error, *(call.error for call in one.calls)]:
            if error is not None:
                by_error.setdefault(error, []).append(process)
    alone = len(by_error) == 1
    return [
        error.message if alone and error.kind is StagingErrorKind.REFUSED else wording.failed(tuple(group), error)
        for error, group in by_error.items()
    ]
