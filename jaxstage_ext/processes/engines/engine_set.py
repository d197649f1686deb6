"""Engines that are not a job yet: asked all at once, and joined by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer
from jaxstage_ext.processes.engines.engine_client import ClientChannel
from jaxstage_ext.processes.engines.engine_errors import ProcessesError
from jaxstage_ext.processes.engines.engine_process import EngineProcess
from jaxstage_ext.processes.inside import joining
from jaxstage_ext.processes.inside.engine_call import EngineCall
from jaxstage_ext.processes.inside.joining import JobTimeouts

_JOINING = "jaxstage_ext.processes.inside.joining"
_PAUSE = 0.05
_TAKEN = "address already in use"
"""What the system says of a port that somebody listens at."""


class PortTaken(Exception):
    """Another process listens at the address that was free a moment before."""


class EngineSet:
    """Engines in the order of the processes that they are to be.

    Attributes:
      numbers: those that ipyparallel has given them.
    """

    def __init__(self, channel: ClientChannel, numbers: Sequence[int], wait: Callable[[], object]) -> None:
        self._channel, self.numbers, self._wait = channel, list(numbers), wait
        self._engines = [EngineProcess(place, 0, "", number, 0) for place, number in enumerate(numbers)]

    def ask(self, function: str, *arguments: object, first_alone: bool = False) -> list[Any]:
        """The values of a function in each engine, or in the first alone. Raises ProcessesError, and PortTaken."""
        engines = self._engines[:1] if first_alone else self._engines
        pending = [self._channel.send(one, EngineCall(function, arguments)) for one in engines]
        waiting = list(pending)
        while waiting:
            waiting = [one for one in waiting if not one.wait(_PAUSE / len(waiting))]
            for one in pending:
                if one not in waiting:
                    _value(one.answer())
            if waiting:
                self._wait()
        return [_value(one.answer()) for one in pending]

    def join(self, devices: int) -> None:
        """Make them the processes of a job of JAX's; `devices` as `joining.join` has it."""
        found = self.ask(f"{_JOINING}:facts")
        is_alone = len({fact["host"] for fact in found}) == 1
        (address,) = self.ask(f"{_JOINING}:free_address", is_alone, first_alone=True)
        names = {f"{fact['host']}/{fact['pid']}": place for place, fact in enumerate(found)}
        self.ask(f"{_JOINING}:join", names, address, devices, joining.as_data(JobTimeouts()))


def _value(answer: EngineAnswer) -> Any:
    if (failure := answer.failure) is None:
        return answer.value
    if _TAKEN in failure.message.lower():
        raise PortTaken
    raise ProcessesError(wording.not_started(wording.failed(answer.process, failure)))
