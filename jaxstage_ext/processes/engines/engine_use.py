"""Using the engines of a client that the user has: those of another machine, of a scheduler, of MPI."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from jaxstage_ext.processes.ended_wording import ENDED
from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_client import ClientChannel
from jaxstage_ext.processes.engines.engine_errors import ProcessesError
from jaxstage_ext.processes.engines.engine_job import EngineJob
from jaxstage_ext.processes.engines.engine_process import EngineProcess
from jaxstage_ext.processes.engines.engine_set import EngineSet, PortTaken
from jaxstage_ext.processes.engines.engine_setups import notes_about, prepared, processes_of

_FACTS = "jaxstage_ext.processes.inside.joining:facts"
_ENDING, _PAUSE = 5.0, 0.02
"""Seconds that a killed process may take to be gone; between looks."""
_KILL = int(signal.SIGKILL)


class UsedJob(EngineJob):
    """A job of the engines of a user's client, which stay when it is left."""

    def __init__(self, processes: Sequence[EngineProcess], channel: ClientChannel, folder: str) -> None:
        super().__init__(processes, channel, is_ours=False)
        self.client, self._folder, self._kernel = channel.client, folder, os.getpid()

    def stop(self) -> None:
        """Remove the files that engines of this machine have written for it."""
        if os.getpid() == self._kernel:  # and not a fork of it
            shutil.rmtree(self._folder, ignore_errors=True)

    def end_process(self, process: EngineProcess) -> None:
        """Kill one process, and wait until it has ended where that can be seen."""
        stacks = process.stacks
        if stacks is not None and stacks.is_here:
            os.kill(process.pid, _KILL)
            deadline = time.monotonic() + _ENDING
            while stacks.is_here and time.monotonic() < deadline:
                time.sleep(_PAUSE)
        elif process.engine in self.client.ids:
            self.client.send_signal(_KILL, targets=process.engine, block=False)


def is_client(value: Any) -> bool:
    """Whether a value is a client of ipyparallel's, or a view of one."""
    return type(value).__module__.startswith("ipyparallel.") and hasattr(value, "direct_view")


def use(client: Any, wait: Callable[[], object]) -> UsedJob:
    """The job of the engines of a client. Those whose JAX has not joined one are joined.

    Args:
      client: an `ipyparallel.Client`.
      wait: called again and again while engines are waited for; what it raises ends it.

    Raises:
      ProcessesError: where there are no engines, or their JAX has run alone.
    """
    channel = ClientChannel(client, lambda process: _how(client, process))
    numbers = sorted(client.ids)
    if not numbers:
        raise ProcessesError(wording.NO_ENGINES)
    engines = EngineSet(channel, numbers, wait)
    _check(numbers, found := engines.ask(_FACTS))
    if not found[0]["has_joined"]:
        _join(engines)
    folder = tempfile.mkdtemp(prefix="jaxstage-processes-")
    try:
        facts = prepared(engines, folder)
        if len({fact["process"] for fact in facts}) < len(facts):
            raise ProcessesError(wording.SEVERAL_JOBS)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    job = UsedJob(processes_of(numbers, facts), channel, folder)
    job.notes = notes_about(facts)
    atexit.register(job.stop)
    return job


def _check(numbers: Sequence[int], facts: Sequence[dict[str, Any]]) -> None:
    """Raise ProcessesError where these engines cannot become a job."""
    joined = [number for number, fact in zip(numbers, facts, strict=True) if fact["has_joined"]]
    if joined and len(joined) < len(numbers):
        raise ProcessesError(wording.some_joined(joined))
    ran = [number for number, fact in zip(numbers, facts, strict=True) if fact["has_backends"]]
    if ran and not joined:
        raise ProcessesError(wording.ran_jax(ran))


def _join(engines: EngineSet) -> None:
    try:
        engines.join(0)
    except PortTaken:
        raise ProcessesError(wording.ports_taken(1)) from None


def _how(client: Any, process: EngineProcess) -> str | None:
    """What is known of the end of an engine: that it is gone."""
    if process.engine not in client.ids:
        return ENDED
    stacks = process.stacks
    return ENDED if stacks is not None and os.path.exists(stacks.path) and not stacks.is_here else None
