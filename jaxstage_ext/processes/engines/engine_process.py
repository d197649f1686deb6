"""One process of a job, and what reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jaxstage_ext.processes.engines.engine_answer import EngineAnswer
from jaxstage_ext.processes.engines.process_stack import StackFile
from jaxstage_ext.processes.inside.engine_call import EngineCall


@dataclass(frozen=True)
class EngineProcess:
    """One process of a job.

    Attributes:
      process: its index, from 0, as `jax.process_index()` gives it there.
      pid: its number in the system of its host.   host: the host's name.
      engine: the number that ipyparallel has given the engine.
      devices: how many devices are its own.
      stacks: where it writes its stacks; None where it was not set up for that.
      journal: the path of its journal on its host.
    """

    process: int
    pid: int
    host: str
    engine: int
    devices: int
    stacks: StackFile | None = None
    journal: str = ""


class PendingAnswer(Protocol):
    """An answer on its way."""

    def wait(self, seconds: float) -> bool:
        """Whether it has come, after at most some seconds."""

    def answer(self) -> EngineAnswer:
        """The answer that has come."""


class EngineChannel(Protocol):
    """How a job reaches its engines."""

    def send(self, process: EngineProcess, call: EngineCall) -> PendingAnswer:
        """Have a process make a call. Raises JobLost where no process can be reached."""

    def how_it_ended(self, process: EngineProcess) -> str | None:
        """What is known of the end of a process; None while it runs, or where nothing can be known of it."""
