"""The compiles of a job of three processes as a panel shows them, made by hand; one process does not answer."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from job_logs import log_row, process_log

from jaxstage_ext.compilation.records.record_outcome import RecordOutcome
from jaxstage_ext.processes.compile_row_form import CompileDetails
from jaxstage_ext.processes.shown_job_compiles import JobCompiles
from jaxstage_ext.program.kinds.job_compiles_program import JobCompilesProgram

LATE = "no answer within 5 s; the process is idle"
STOPPED = {"outcome": RecordOutcome.STOPPED.value, "compile": None}
DETAILS = CompileDetails(
    why="argument x: f32[8] → f32[16]",
    advice="Give x one shape",
    code="x = pad(x)",
    differences=[["type", "argument x", "f32[8]", "f32[16]"]],
    facts=[["outcome", "compiled"], ["compile", "500 ms"]],
)


def job_compiles(more: Sequence[Any] = (), missing: bool = True) -> JobCompiles:
    """`step` in processes 0 and 1, an eager operation in 0, what the guard stopped, and `more` in 1."""
    first = [log_row("step", 0, number=1), log_row("add", 2, number=2, is_eager=True, processes=[0])]
    first.append(log_row("evaluate", 4, number=3, **STOPPED))
    second = [log_row("step", 1, number=1), log_row("evaluate", 5, number=2, **STOPPED), *more]
    return JobCompiles((process_log(0, first), process_log(1, second)), {2: LATE} if missing else {})


class MadeJobCompiles:
    """Its panel's program. Process 0 tells why it compiled; others do not. Asked anew, process 1 has one more."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.program = JobCompilesProgram(job_compiles(), self._newest, self._ask)

    def _newest(self) -> JobCompiles:
        return job_compiles([log_row("late", 9, number=3)], missing=False)

    def _ask(self, function: str, *arguments: object, only: Sequence[int] | None = None) -> list[Any]:
        self.asked.append((function, *arguments, only))
        if only == [0]:
            return [SimpleNamespace(process=0, value=DETAILS if arguments[0] == 1 else None, failure=None)]
        failure = SimpleNamespace(error="", message=LATE, kind=None)
        return [SimpleNamespace(process=1, value=None, failure=failure)] if only == [1] else []
