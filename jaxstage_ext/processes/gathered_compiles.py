"""Asks all processes of a job for their compile logs, and for the cache keys that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from jaxstage_ext.processes import job_compiles_wording as wording
from jaxstage_ext.processes.compile_row_form import CompileDetails, KeyForm, ProcessLogForm
from jaxstage_ext.processes.job_compiles import JobProgram, MergedCompiles, ProgramName
from jaxstage_ext.processes.key_comparison import ComparedKeys, compared_keys
from jaxstage_ext.processes.shown_job_compiles import JobCompiles
from jaxstage_ext.report.unavailable import Unavailable

INSIDE = "jaxstage_ext.processes.inside.compile_rows"
_CAUSE = "jaxstage_ext.processes.inside.compile_cause:compile_cause"
_MOST_COMPARED = 3
"""Programs whose keys are compared."""


class ProcessReply(Protocol):
    """What one process answered."""

    @property
    def process(self) -> int: ...

    @property
    def value(self) -> Any: ...

    @property
    def failure(self) -> Any: ...


class AskProcesses(Protocol):
    """Calls a function in processes of a job."""

    def __call__(self, function: str, *arguments: object, only: Sequence[int] | None = None) -> Sequence[ProcessReply]:
        """The answers in the order of processes."""


def gathered_compiles(ask: AskProcesses) -> JobCompiles:
    """The compile logs of all processes that answer; why others do not is in `missing`.

    Nothing is compiled, and no process waits for another.
    """
    logs: list[ProcessLogForm] = []
    missing: dict[int, str] = {}
    for reply in ask(f"{INSIDE}:compile_rows"):
        if reply.failure is None:
            logs.append(reply.value)
        else:
            missing[reply.process] = f"{reply.failure.error} {reply.failure.message}".strip() or str(reply.failure.kind)
    merged = MergedCompiles(tuple(sorted(logs, key=lambda log: log["process"])), missing)
    return JobCompiles(merged.logs, missing, _keys(merged, ask))


def _keys(merged: MergedCompiles, ask: AskProcesses) -> Mapping[tuple[ProgramName, int], ComparedKeys]:
    """How keys differ, of the first programs whose keys do, jitted functions before eager operations."""
    differing = sorted((one for one in merged.programs if one.has_other_keys), key=lambda one: one.is_eager)
    differing = differing[:_MOST_COMPARED]
    numbers = {log["process"]: [_number(one, log["process"]) for one in differing] for log in merged.logs}
    keys: dict[int, Mapping[int, KeyForm]] = {}
    for process, wanted in numbers.items():
        if known := [number for number in wanted if number is not None]:
            [reply] = ask(f"{INSIDE}:cache_keys", known, only=[process])
            keys[process] = reply.value if reply.failure is None else {}
    return {(one.name, one.time): compared_keys(_of(one, keys)) for one in differing}


def _number(one: JobProgram, process: int) -> int | None:
    return one.rows[process]["number"] if process in one.rows else None


def _of(one: JobProgram, keys: Mapping[int, Mapping[int, KeyForm]]) -> dict[int, KeyForm]:
    return {
        process: keys[process][row["number"]]
        for process, row in one.rows.items()
        if row["number"] in keys.get(process, {})
    }


def compile_details(ask: AskProcesses, process: int, number: int) -> CompileDetails:
    """What the process tells of its record of that number. Raises Unavailable where it tells nothing."""
    answers = ask(_CAUSE, number, only=[process])
    if not answers:
        raise Unavailable(wording.no_process(process))
    [answer] = answers
    if answer.failure is not None:
        raise Unavailable(wording.untold(process, f"{answer.failure.error} {answer.failure.message}".strip()))
    if answer.value is None:
        raise Unavailable(wording.dropped(process, number))
    told: CompileDetails = answer.value
    return told
