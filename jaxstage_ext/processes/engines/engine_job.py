"""The job of processes that the notebook's kernel talks to: who they are, and asking all of them at once."""

from __future__ import annotations

import linecache
import os
import time
from collections.abc import Callable, Mapping, Sequence

from jaxstage_ext.processes.engines import engines_wording, locating, whereabouts_wording
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer, EngineFailure, FailureKind
from jaxstage_ext.processes.engines.engine_errors import NoJob
from jaxstage_ext.processes.engines.engine_process import EngineChannel, PendingAnswer
from jaxstage_ext.processes.engines.engine_process import EngineProcess as EngineProcess
from jaxstage_ext.processes.engines.unequal_calls import UnequalCalls, unequal_calls
from jaxstage_ext.processes.engines.whereabouts import LineNames, NamedLine, Whereabouts
from jaxstage_ext.processes.inside.engine_call import EngineCall

PATIENCE = 5.0
"""Seconds that answers may take until a line says where each process is."""
SLICE = 0.05
"""Seconds of one wait for an answer, between which an interrupt takes effect and deaths are noticed."""
_SECOND_LOOK = 0.3
"""Seconds after which processes that wait are looked at again: one may only have been ahead of another."""


def names_by_file(file: str, line: int) -> NamedLine:
    """A line by its file's name alone, with the text that this machine has of it."""
    return NamedLine(f"{os.path.basename(file)}:{line}", linecache.getline(file, line).strip())


class EngineJob:
    """One running job, seen from the notebook's kernel.

    Attributes:
      processes: its processes, in the order of their indices.
      is_ours: whether `%processes start` started it; otherwise it is reached over the user's client.
      channel: what reaches the engines.
      notes: what is to be known of it, such as that its processes have different versions.
      say: prints a line for the user.
      names: how a line of code is named to the user.
      cell_labels: what the cells are called that ran in its processes, by the names of their files there.
    """

    def __init__(self, processes: Sequence[EngineProcess], channel: EngineChannel, is_ours: bool) -> None:
        self.processes, self.channel, self.is_ours = tuple(processes), channel, is_ours
        self.notes: tuple[str, ...] = ()
        self.say: Callable[[str], object] = print
        self.names: LineNames = names_by_file
        self.cell_labels: Callable[[], Mapping[str, str]] = dict

    @property
    def size(self) -> int:
        """How many processes it has, dead ones included."""
        return len(self.processes)

    def ask(
        self,
        function: str,
        *arguments: object,
        patience: float | None = None,
        only: Sequence[int] | None = None,
        limit: float | None = None,
    ) -> tuple[EngineAnswer, ...]:
        """Have each engine import "package.module:function" and call it with these arguments.

        Arguments and values are plain data. Ctrl-C leaves at once; what the engines do goes on there.

        Args:
          function: its name, as "package.module:function".
          *arguments: what it is called with.
          patience: the seconds after which a line says where each process is; 5 unless given.
          only: the indices of the processes to ask; all unless given.
          limit: the seconds after which those that have not answered are not waited for; it then prints no line.

        Returns:
          An answer for each process asked, in the order of their indices.

        Raises:
          JobLost: where no process can be reached any more.
        """
        chosen = [one for one in self.processes if only is None or one.process in only]
        call = EngineCall(function, arguments)
        pending = [self.channel.send(one, call) for one in chosen]
        if limit is not None:
            return self._answers_within(limit, chosen, pending)
        self._wait(pending, PATIENCE if patience is None else patience)
        return tuple(one.answer() for one in pending)

    def tell(self, function: str, *arguments: object) -> None:
        """Have each engine make a call, before what it is asked next, and wait for none. Raises as `ask`."""
        call = EngineCall(function, arguments)
        for one in self.processes:
            self.channel.send(one, call)

    def activate(self) -> None:
        """Have `%px` and `%%px` run in these processes, where they are ours."""

    def stop(self) -> None:
        """End what it has started, which are its processes where it is ours."""

    def end_process(self, process: EngineProcess) -> None:
        """Kill one process, and wait until it has ended where that can be seen."""
        raise NotImplementedError

    def _wait(self, pending: Sequence[PendingAnswer], patience: float) -> None:
        began, next_line = time.monotonic(), patience
        for one in pending:
            while not one.wait(SLICE):
                if time.monotonic() - began > next_line:
                    next_line *= 2
                    found = self.where()
                    self.say(whereabouts_wording.no_answer(found, time.monotonic() - began, self.unequal_calls(found)))

    def _answers_within(
        self, limit: float, chosen: Sequence[EngineProcess], pending: Sequence[PendingAnswer]
    ) -> tuple[EngineAnswer, ...]:
        end = time.monotonic() + limit
        for one in pending:
            while not one.wait(SLICE) and time.monotonic() < end:
                pass
        late = [asked.process for asked, one in zip(chosen, pending, strict=True) if not one.wait(0)]
        where = {one.process: one for one in self.where()} if late else {}
        messages = {process: whereabouts_wording.late(where[process], limit) for process in late}
        return tuple(
            EngineAnswer(asked.process, failure=EngineFailure(FailureKind.LATE, message=messages[asked.process]))
            if asked.process in messages
            else one.answer()
            for asked, one in zip(chosen, pending, strict=True)
        )

    def where(self) -> list[Whereabouts]:
        """Where each process is just now, in their order. Takes about a second at most."""
        return locating.locate(self.processes, self.channel, self.names)

    def unequal_calls(self, found: Sequence[Whereabouts]) -> UnequalCalls | None:
        """Whether processes wait because others do not make the same calls, where a second look says so too."""
        if (first := unequal_calls(found)) is None:
            return None
        time.sleep(_SECOND_LOOK)
        return first if unequal_calls(self.where()) == first else None

    def programs(self) -> dict[int, str | None]:
        """The last program of several processes that each has run first; None where that is not known."""
        return {one.process: locating.last_program(one) for one in self.processes}


class _Current:
    job: EngineJob | None = None


def current_job() -> EngineJob:
    """The job of this kernel. Raises NoJob where there is none."""
    if _Current.job is None:
        raise NoJob(engines_wording.NO_JOB)
    return _Current.job


def has_job() -> bool:
    """Whether there is a job."""
    return _Current.job is not None


def set_job(job: EngineJob | None) -> EngineJob | None:
    """Make a job the one of this kernel, or None. Returns the former one, which is not stopped."""
    former, _Current.job = _Current.job, job
    return former
