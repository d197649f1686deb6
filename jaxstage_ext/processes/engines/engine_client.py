"""Reaching engines over ipyparallel's client: the one place that sends them anything."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from jaxstage_ext.processes.ended_wording import ENDED
from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer, EngineFailure, FailureKind
from jaxstage_ext.processes.engines.engine_errors import JobLost
from jaxstage_ext.processes.engines.engine_process import EngineProcess, PendingAnswer
from jaxstage_ext.processes.inside.engine_call import VALUE, EngineCall

_PACKAGE = "jaxstage_ext"
_DEAD = "EngineError"
"""The error of ipyparallel's for an engine that has ended."""
_HEARD_EARLY, _PAUSE = 2.0, 0.01
"""Seconds by which ipyparallel may hear of an end before the process can be waited for, and between two looks."""

HowItEnded = Callable[[EngineProcess], str | None]
"""What is known of the end of a process; None while it runs, or where nothing can be known of it."""


class ClientChannel:
    """The engines of a client.

    Attributes:
      client: an `ipyparallel.Client`.
    """

    def __init__(self, client: Any, how_it_ended: HowItEnded) -> None:
        self.client, self._how = client, how_it_ended

    def how_it_ended(self, process: EngineProcess) -> str | None:
        """What is known of the end of a process; None while it runs, or where nothing can be known of it."""
        return self._how(process)

    def how_it_has_ended(self, process: EngineProcess) -> str:
        """How a process has ended of whose end ipyparallel has heard, perhaps before the process can be waited for."""
        heard = time.monotonic()
        while (how := self._how(process)) is None and time.monotonic() - heard < _HEARD_EARLY:
            time.sleep(_PAUSE)
        return how or ENDED

    def send(self, process: EngineProcess, call: EngineCall) -> PendingAnswer:
        """Have a process make a call. Raises JobLost where the client is closed."""
        if process.engine not in self.client.ids:
            return _Dead(process, self.how_it_has_ended(process))
        return _Sent(self, process, call)


class _Dead:
    def __init__(self, process: EngineProcess, how: str) -> None:
        self._process, self._how = process, how

    def wait(self, seconds: float) -> bool:
        return True

    def answer(self) -> EngineAnswer:
        return died(self._process, self._how)


class _Sent:
    def __init__(self, channel: ClientChannel, process: EngineProcess, call: EngineCall) -> None:
        self._channel, self._process, self._call = channel, process, call
        self._ended: str | None = None
        self._answer: EngineAnswer | None = None
        self._reply = self._send()

    def _send(self) -> Any:
        try:
            view = self._channel.client.direct_view(self._process.engine)
            return view.apply_async(self._call)
        except IndexError:  # it has ended since
            self._ended = self._channel.how_it_has_ended(self._process)
            return None
        except RuntimeError as error:
            raise JobLost(wording.CLIENT_CLOSED) from error

    def wait(self, seconds: float) -> bool:
        if self._ended is not None or self._reply.wait(seconds):
            return True
        self._ended = self._channel.how_it_ended(self._process)
        return self._ended is not None

    def answer(self) -> EngineAnswer:
        if self._answer is None:
            self._answer = self._read()
        return self._answer

    def _read(self) -> EngineAnswer:
        if self._ended is not None:
            return died(self._process, self._ended)
        try:
            outcome = self._reply.get(0)
        except Exception as error:
            return self._failed(error)
        finally:
            with contextlib.suppress(Exception):  # what it keeps of the answer
                self._channel.client.purge_local_results(self._reply)
        kind, *rest = outcome
        if kind == VALUE:
            return EngineAnswer(self._process.process, rest[0])
        return EngineAnswer(self._process.process, failure=EngineFailure(FailureKind.RAISED, *rest))

    def _failed(self, error: Exception) -> EngineAnswer:
        """What ipyparallel says instead of an outcome."""
        name, text = getattr(error, "ename", type(error).__name__), str(getattr(error, "evalue", error))
        if name == _DEAD:
            return died(self._process, self._channel.how_it_has_ended(self._process))
        is_missing = name == "ModuleNotFoundError" and _PACKAGE in text
        kind = FailureKind.NOT_INSTALLED if is_missing else FailureKind.RAISED
        return EngineAnswer(self._process.process, failure=EngineFailure(kind, name, text))


def died(process: EngineProcess, how: str) -> EngineAnswer:
    """The answer of a process that has ended."""
    return EngineAnswer(process.process, failure=EngineFailure(FailureKind.DIED, message=how))
