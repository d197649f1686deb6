"""Starting a job: processes, a client, and JAX's own meeting of them all."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jaxstage_ext.processes.engines import engine_job
from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_client import ClientChannel
from jaxstage_ext.processes.engines.engine_errors import ProcessesError
from jaxstage_ext.processes.engines.engine_job import EngineJob
from jaxstage_ext.processes.engines.engine_process import EngineProcess
from jaxstage_ext.processes.engines.engine_processes import EngineProcesses, ending
from jaxstage_ext.processes.engines.engine_set import EngineSet, PortTaken
from jaxstage_ext.processes.engines.engine_setups import notes_about, prepared, processes_of

MOST_PROCESSES, MOST_DEVICES = 64, 64
_PAUSE = 0.05
_ATTEMPTS = 3
"""Times that a job is started anew where its port has been taken meanwhile."""
_SEVERAL_DEVICES = (0, 12)
"""The first JAX whose CPU programs of several processes do not deadlock with several devices a process."""
Told = Callable[[float, str], object]
"""Called now and then with the seconds gone and what is waited for; what it raises ends the start."""


class StartedJob(EngineJob):
    """A job of processes that this kernel has started and ends.

    Attributes:
      client: the `ipyparallel.Client` that reaches them.   devices_each: how many devices each was given.
    """

    def __init__(
        self, processes: Sequence[EngineProcess], channel: ClientChannel, own: EngineProcesses, devices_each: int
    ) -> None:
        super().__init__(processes, channel, is_ours=True)
        self._own, self.client, self.devices_each = own, channel.client, devices_each

    def activate(self) -> None:
        """Have `%px` and `%%px` run in these processes."""
        self.client.activate()

    def stop(self) -> None:
        """End its processes."""
        end(self._own, self.client)

    def end_process(self, process: EngineProcess) -> None:
        """Kill one process, and wait until it has ended."""
        engine = self._own.engines[process.engine]
        engine.kill()
        engine.wait()


def check_library() -> None:
    """Raise ProcessesError where ipyparallel is not installed."""
    if importlib.util.find_spec("ipyparallel") is None:
        raise ProcessesError(wording.NO_LIBRARY)


def start(count: int, devices: int, timeout: float, told: Told) -> StartedJob:
    """Start a job. Leaves nothing behind where it fails or is interrupted.

    Args:
      count: how many processes.
      devices: how many CPU devices each has.
      timeout: seconds until all are ready.
      told: hears what is waited for.

    Raises:
      ProcessesError: with one line that says why.
    """
    check_library()
    check_devices(devices)
    atexit.register(close)
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(PortTaken):
            return _start(count, devices, timeout, told)
    raise ProcessesError(wording.ports_taken(_ATTEMPTS))


def check_devices(devices: int) -> None:
    """Raise ProcessesError where JAX's programs would hang with so many devices a process."""
    import jax

    if devices > 1 and jax.__version_info__ < _SEVERAL_DEVICES:
        raise ProcessesError(wording.deadlock(jax.__version__))


def _start(count: int, devices: int, timeout: float, told: Told) -> StartedJob:
    clock = _Countdown(timeout, told)
    own, client = EngineProcesses(count), None
    try:
        client = _connected(own, clock)
        while len(client.ids) < count:
            clock.wait(own, wording.engines_to_come(len(client.ids), count))
        channel = ClientChannel(client, lambda process: _how(own, process))
        engines = EngineSet(channel, sorted(client.ids), lambda: clock.wait(own, wording.JOINING))
        engines.join(devices)
        facts = prepared(engines, str(own.folder))
        job = StartedJob(processes_of(engines.numbers, facts), channel, own, devices)
        job.notes = notes_about(facts)
        return job
    except BaseException:
        end(own, client)
        raise


class _Countdown:
    def __init__(self, seconds: float, told: Told) -> None:
        self._began, self._seconds, self._told = time.monotonic(), seconds, told

    def wait(self, own: EngineProcesses, what: str) -> None:
        """Wait a moment. Raises ProcessesError where a process has ended or the time is over."""
        if (why := own.ended()) is not None:
            raise ProcessesError(wording.not_started(why))
        gone = time.monotonic() - self._began
        if gone > self._seconds:
            raise ProcessesError(wording.took_too_long(self._seconds, what))
        self._told(gone, what)
        time.sleep(_PAUSE)


def _connected(own: EngineProcesses, clock: _Countdown) -> Any:
    while (info := _read(own.client_file)) is None:
        clock.wait(own, wording.CONTROLLER)
    import ipyparallel

    return ipyparallel.Client(info, profile_dir=str(own.folder), timeout=30)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _how(own: EngineProcesses, process: EngineProcess) -> str | None:
    """How one of the processes has ended; None while it runs."""
    code = own.engines[process.engine].poll()
    return None if code is None else ending(code)


def end(own: EngineProcesses, client: Any) -> None:
    """End the processes of a job, and its client."""
    own.end()
    if client is not None:
        client.close(linger=0)


def close() -> None:
    """End the job of this kernel where it was started here, and forget it. Without one it does nothing."""
    if (job := engine_job.set_job(None)) is not None:
        job.stop()
