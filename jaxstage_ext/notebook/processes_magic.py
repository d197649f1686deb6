"""`%processes`: a job of several processes, started here or reached over the user's client."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook.engine_cells import NAME_CELLS, engine_line_names, labels_of, px_labels
from jaxstage_ext.notebook.failures import interrupts_in_one_line
from jaxstage_ext.notebook.lines.processes_line import ProcessesLine, parsed
from jaxstage_ext.processes import ended_wording
from jaxstage_ext.processes.engines import engine_job, engine_start, engine_use, whereabouts_wording
from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_errors import NoJob, ProcessesError
from jaxstage_ext.processes.engines.engine_job import EngineJob
from jaxstage_ext.processes.engines.engine_process import EngineProcess
from jaxstage_ext.processes.engines.job_status import status_table
from jaxstage_ext.report.text.process_names import process_names

_GUARD = "jaxstage_ext.processes.inside.engine_guard:switch"
_GUARD_TIMEOUT = 300.0
_PREPARE = "jaxstage_ext.notebook.several.staged_in_engine:begin"
_PROGRESS = 0.5
"""Seconds between two states of the line that says what a start waits for."""


def run(line: str, shell: Any) -> Any:
    """Do what a line of `%processes` says. Returns what it shows, or None. Raises UsageError."""
    asked = parsed(line)
    try:
        return _COMMANDS[asked.command](asked, shell)
    except ProcessesError as error:
        raise UsageError(str(error)) from None


def name_running_cell(number: int, cell: str) -> None:
    """Tell the engines what a cell with `%%px` is called here, before it runs there. Nobody waits."""
    if engine_job.has_job() and (labels := labels_of(number, cell)):
        with contextlib.suppress(ProcessesError):
            engine_job.current_job().tell(NAME_CELLS, labels)


def _start(asked: ProcessesLine, shell: Any) -> None:
    _check_none()
    _begin(lambda told: engine_start.start(asked.number, asked.devices or 1, asked.timeout, told), shell)


def _use(asked: ProcessesLine, shell: Any) -> None:
    _check_none()
    engine_start.check_library()
    client = shell.user_ns.get(asked.word)
    if not engine_use.is_client(client):
        raise UsageError(f"%processes use {asked.word}: {wording.not_a_client(asked.word in shell.user_ns)}")
    _begin(lambda told: engine_use.use(client, told), shell)


def _begin(make: Callable[[_StartLine], EngineJob], shell: Any) -> None:
    with interrupts_in_one_line(wording.CANCELLED), _StartLine() as line:
        job = make(line)
    _show(job, line, shell)


def _show(job: EngineJob, line: _StartLine, shell: Any) -> None:
    job.names = engine_line_names(shell)
    job.cell_labels = lambda: px_labels(shell)
    engine_job.set_job(job)
    if job.is_ours:
        job.activate()
    job.tell(_PREPARE)
    line.end(wording.started([one.devices for one in job.processes], line.seconds))
    for note in job.notes:
        print(note)


def _restart(asked: ProcessesLine, shell: Any) -> None:
    job = engine_job.current_job()
    if not isinstance(job, engine_start.StartedJob):
        raise UsageError(wording.NOT_OURS)
    devices = asked.devices or job.devices_each
    engine_start.check_devices(devices)
    engine_start.close()
    _begin(lambda told: engine_start.start(job.size, devices, asked.timeout, told), shell)


def _stop(asked: ProcessesLine, shell: Any) -> None:
    job = engine_job.current_job()
    engine_start.close()
    print(wording.stopped(job.size, job.is_ours))


def _status(asked: ProcessesLine, shell: Any) -> Any:
    return status_table(engine_job.current_job())


def _where(asked: ProcessesLine, shell: Any) -> None:
    job = engine_job.current_job()
    found = job.where()
    lines = [*map(whereabouts_wording.where, found), whereabouts_wording.lost_coordinator(found)]
    if (calls := job.unequal_calls(found)) is not None:
        lines += [whereabouts_wording.unequal(calls), whereabouts_wording.REMEDY]
    print("\n".join(filter(None, lines)))


def _end(asked: ProcessesLine, shell: Any) -> None:
    job = engine_job.current_job()
    process = _process(job, asked.number)
    job.end_process(process)
    print(wording.was_ended(process.process))


def _process(job: EngineJob, index: int) -> EngineProcess:
    found = next((one for one in job.processes if one.process == index), None)
    if found is None:
        raise UsageError(f"%processes end {index}: there are {process_names(range(job.size))}")
    return found


def _guard(asked: ProcessesLine, shell: Any) -> None:
    import os

    is_on = asked.word == "on"
    with interrupts_in_one_line(wording.NO_ANSWER):
        answers = engine_job.current_job().ask(_GUARD, is_on, _GUARD_TIMEOUT, os.getcwd())
    failed = [wording.unanswered(each.process, each.failure) for each in answers if each.failure is not None]
    print(ended_wording.joined(failed) or wording.guard(is_on))


def _check_none() -> None:
    """Raise UsageError where there is a job."""
    try:
        job = engine_job.current_job()
    except NoJob:
        return
    raise UsageError(wording.runs_already(job.size, job.is_ours))


class _StartLine:
    """The one line that says how far a start is; it is overwritten, and gone where the start fails."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._width = 0

    @property
    def seconds(self) -> float:
        """Since the start began."""
        return time.monotonic() - self._began

    def __call__(self, seconds: float = 0.0, what: str = wording.JOINING) -> None:
        if time.monotonic() - self._last >= _PROGRESS:
            self._last = time.monotonic()
            self._write(wording.starting(round(self.seconds), what))

    def end(self, text: str) -> None:
        """Replace the line by the last one."""
        self._write(text)
        print()

    def _write(self, text: str) -> None:
        line, self._width = "\r" + text.ljust(self._width), max(len(text), 1)  # before an interrupt while it is printed
        print(line, end="", flush=True)

    def __enter__(self) -> _StartLine:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._width and failure[0] is not None:
            self._write("")
            print("\r", end="", flush=True)


_COMMANDS: dict[str, Callable[[ProcessesLine, Any], Any]] = {
    "start": _start,
    "use": _use,
    "status": _status,
    "where": _where,
    "guard": _guard,
    "end": _end,
    "restart": _restart,
    "stop": _stop,
}
