"""A program that an engine holds: the panel's requests about it are sent there."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from jaxstage_ext.panel.params import Answer as Reply
from jaxstage_ext.panel.params import BadRequest, ErrorKind
from jaxstage_ext.processes.staged import staged_wording
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.processes.engines.engine_answer import EngineAnswer

ANSWER = "jaxstage_ext.notebook.several.staged_in_engine:answer"
QUICK = 5.0
"""Seconds that what is answered at once may take; the process does something else then."""
_NO_LINES = float("inf")


class AskedJob(Protocol):
    """The job that is asked: an `EngineJob`."""

    def ask(
        self, function: str, *arguments: object, patience: float | None = None, only: Sequence[int] | None = None
    ) -> tuple[EngineAnswer, ...]:
        """As `EngineJob.ask`."""


@dataclass(frozen=True)
class EngineProgram:
    """One target of a call, in one process.

    Attributes:
      handle: what the process keeps the cell's calls under.   number: the call's.   target: the label there.
    """

    job: AskedJob
    process: int
    handle: str
    number: int
    target: str

    @property
    def why_not_here(self) -> str:
        """As of `ProgramElsewhere`."""
        return staged_wording.elsewhere(self.process)

    def answer(self, method: str, params: Mapping[str, Any], is_slow: bool) -> Reply:
        """As `ProgramElsewhere.answer`."""
        told = self._asked(method, params, None if is_slow else QUICK)
        if told is None:
            raise Unavailable(staged_wording.gone(self.process))
        if (error := told.get("error")) is not None:
            raise BadRequest(error["message"], ErrorKind(error["kind"]), error["log"])
        return json.loads(told["result"]), list(told["buffers"])

    def _asked(self, method: str, params: Mapping[str, Any], limit: float | None) -> Mapping[str, Any] | None:
        """What the process tells. It is asked on another thread, which a process that is busy may keep."""
        answers: list[EngineAnswer] = []
        failures: list[BaseException] = []

        def ask() -> None:
            asked = (self.handle, self.number, self.target, method, dict(params))
            try:
                answers.extend(self.job.ask(ANSWER, *asked, patience=_NO_LINES, only=[self.process]))
            except BaseException as error:
                failures.append(error)

        asking = threading.Thread(target=ask, name="jaxstage asks a process", daemon=True)
        asking.start()
        asking.join(limit)
        if asking.is_alive():
            raise BadRequest(staged_wording.busy(self.process), ErrorKind.BUSY)
        return self._told(answers, failures)

    def _told(self, answers: Sequence[EngineAnswer], failures: Sequence[BaseException]) -> Mapping[str, Any] | None:
        failure = next((one.failure for one in answers if one.failure is not None), None)
        if failures or failure is not None or not answers:
            why = str(failures[0]) if failures else failure.message if failure is not None else ""
            raise Unavailable(staged_wording.lost(self.process, why))
        value = answers[0].value
        return value if isinstance(value, Mapping) else None
