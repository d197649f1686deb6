"""The processes of a job on this machine: ipyparallel's controller and engines, started and ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.inside import parent_watch
from jaxstage_ext.processes.inside.joining import LOOPBACK
from jaxstage_ext.report.uninterrupted import uninterrupted

_ROOM = "jaxstage_ext.processes.engines"
_FOLDERS = ("db", "log", "pid", "security", "startup")
_REGISTRATION = 60
"""Seconds that an engine waits for the controller's answer."""
_HEARTBEATS = ("--HeartMonitor.period=250", "--HeartMonitor.max_heartmonitor_misses=240")
"""An engine is there after two beats, in milliseconds; a process that has ended is noticed otherwise, at once."""
_NO_MISSES = "--IPEngine.max_heartbeat_misses=0"
"""An engine does not watch the controller: it ends with the kernel."""
_NANNY = "KernelNanny"
"""In lines that an engine's nanny writes: it goes on for a moment."""
_DEVICE_COUNT = "--xla_force_host_platform_device_count"
_ENDING = 5.0
"""Seconds that killed processes may take to be gone."""


class EngineProcesses:
    """The controller and the engines, with the folder that holds their connection files and their output.

    They listen on loopback alone, and end when the kernel that started them does.

    Attributes:
      folder: it goes with the processes.   engines: those of the engines, in order.
    """

    def __init__(self, count: int) -> None:
        self._kernel = os.getpid()
        self.folder = Path(tempfile.mkdtemp(prefix="jaxstage-processes-"))
        self.engines: list[subprocess.Popen[bytes]] = []
        self._all: list[subprocess.Popen[bytes]] = []
        try:
            for name in _FOLDERS:
                (self.folder / name).mkdir()
            self._start("hub", f"--ip={LOOPBACK}", f"--location={LOOPBACK}", *_HEARTBEATS)
            for number in range(count):
                options = [f"--IPEngine.id={number}", f"--IPEngine.timeout={_REGISTRATION}", _NO_MISSES]
                self.engines.append(self._start("engine", str(self._connection("engine")), *options, log=number))
        except BaseException:
            self.end()
            raise

    def _start(self, what: str, *options: str, log: int | str = "") -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"{_ROOM}.{what}_main", *options, f"--profile-dir={self.folder}"]
        own = {parent_watch.VARIABLE: str(self._kernel), parent_watch.FOLDER: str(self.folder)}
        with (self.folder / f"{what}{log}.txt").open("ab") as output, uninterrupted():
            started = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=engine_environment(os.environ) | own,
                start_new_session=True,  # Ctrl-C is for the kernel
            )
            self._all.append(started)
        return started

    def _connection(self, whose: str) -> Path:
        return self.folder / "security" / f"ipcontroller-{whose}.json"

    @property
    def client_file(self) -> Path:
        """The controller's connection file for clients."""
        return self._connection("client")

    def ended(self) -> str | None:
        """What is known of a process that has ended, the controller first; None while all run."""
        for place, each in enumerate(self._all):
            if each.poll() is not None:
                who = wording.CONTROLLER if place == 0 else wording.process(place - 1)
                return wording.has_ended(who, each.pid, ending(each.returncode), self.last_line(place - 1))
        return None

    def last_line(self, number: int) -> str:
        """The last line that an engine has written, -1 being the controller."""
        file = self.folder / ("hub.txt" if number < 0 else f"engine{number}.txt")
        with contextlib.suppress(OSError):
            lines = [line for line in file.read_text("utf-8", "replace").splitlines() if line and _NANNY not in line]
            return lines[-1].strip()[:300] if lines else ""
        return ""

    def end(self) -> None:
        """End all processes, and remove the folder. In a process that was forked from the kernel it does nothing."""
        if os.getpid() != self._kernel:
            return
        with uninterrupted():
            nannies = _children(self.engines)
            for each in reversed(self._all):
                _kill_group(each.pid)
            for each in self._all:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    each.wait(_ENDING)
            _end_all(nannies)
            shutil.rmtree(self.folder, ignore_errors=True)


def engine_environment(own: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """The environment of engines: CPU devices as many as asked for, and one order of sets in all."""
    environment = {**own, "JAX_PLATFORMS": "cpu", "PYTHONHASHSEED": "0"}
    for name in ("JAX_NUM_CPU_DEVICES", "IPP_CONNECTION_INFO"):
        environment.pop(name, None)
    if flags := environment.get("XLA_FLAGS"):
        environment["XLA_FLAGS"] = " ".join(flag for flag in flags.split() if not flag.startswith(_DEVICE_COUNT))
    return environment


def ending(code: int) -> str:
    """How a process ended, such as "killed by SIGKILL" or "exit status 1"."""
    if code >= 0:
        return wording.exit_status(code)
    with contextlib.suppress(ValueError):
        return wording.killed(signal.Signals(-code).name)
    return wording.killed(str(-code))


def _kill_group(pid: int) -> None:
    """Kill the session that a process leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _children(engines: Sequence[subprocess.Popen[bytes]]) -> list[int]:
    """What engines have started, in sessions of their own too: ipyparallel's nannies among them."""
    import psutil

    found: list[int] = []
    for engine in engines:
        with contextlib.suppress(psutil.Error):
            found += [child.pid for child in psutil.Process(engine.pid).children(recursive=True)]
    return found


def _end_all(pids: Sequence[int]) -> None:
    """Kill processes that are no children of this one, and wait until they are gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _ENDING
    while any(map(_runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
