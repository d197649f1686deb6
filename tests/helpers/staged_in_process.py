"""A job whose processes are this one: each call is made here, with another `jax.process_index()` for each of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest import mock

import jax

from jaxstage_ext.processes.engines import engine_job
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer, EngineFailure, FailureKind
from jaxstage_ext.processes.engines.engine_job import EngineJob, EngineProcess
from jaxstage_ext.processes.inside.engine_call import VALUE, EngineCall

Before = Callable[[int, EngineCall], EngineAnswer | None]


class _Given:
    """An answer that has come."""

    def __init__(self, answer: EngineAnswer) -> None:
        self._answer = answer

    def wait(self, seconds: float) -> bool:
        return True

    def answer(self) -> EngineAnswer:
        return self._answer


class InProcessChannel:
    """Makes each call at once. `before` may answer in its place.

    Attributes:
      asked: the processes that were asked, with the function.
    """

    def __init__(self, before: Before | None = None) -> None:
        self.before = before
        self.asked: list[tuple[int, str]] = []

    def send(self, process: EngineProcess, call: EngineCall) -> _Given:
        self.asked.append((process.process, call.function.rpartition(":")[2]))
        if self.before is not None and (answer := self.before(process.process, call)) is not None:
            return _Given(answer)
        with mock.patch.object(jax, "process_index", return_value=process.process):
            kind, *outcome = _own(process.process, call)()
        if kind == VALUE:
            return _Given(EngineAnswer(process.process, outcome[0]))
        failure = EngineFailure(FailureKind.RAISED, *outcome)
        return _Given(EngineAnswer(process.process, None, failure))


def _own(process: int, call: EngineCall) -> EngineCall:
    """The call with a handle, if it has one, that no other process has, which all share this one's memory."""
    at = next((at for at, one in enumerate(call.arguments) if isinstance(one, str)), None)
    if at is None:
        return call
    named = (*call.arguments[:at], f"{call.arguments[at]}-{process}", *call.arguments[at + 1 :])
    return replace(call, arguments=named)


@contextlib.contextmanager
def job_here(size: int = 2, before: Before | None = None) -> Iterator[InProcessChannel]:
    """The kernel's job, of so many processes, in a block."""
    channel = InProcessChannel(before)
    processes = [EngineProcess(at, 1000 + at, "node", at, 1) for at in range(size)]
    former = engine_job.set_job(EngineJob(processes, channel, is_ours=True))
    try:
        yield channel
    finally:
        engine_job.set_job(former)
