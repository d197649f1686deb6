"""The compile workers: processes that may die. Started on first need, kept warm, one a platform and lane.

`ask` sends a request and waits. A crash, a hang, too much memory or an interrupt ends the worker and the request,
never the kernel; the next request gets a fresh one. What the worker prints goes to a log of its own.
"""

from __future__ import annotations

import atexit
import os
import threading
import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from jaxstage_ext.report.progress import Progress
from jaxstage_ext.worker import folder, memory_limit
from jaxstage_ext.worker.inside import pass_log
from jaxstage_ext.worker.process import LeftIdle, RequestFailed, Worker, WorkerDied

__all__ = ["COMPILE", "LOOK", "THROW_AWAY", "RequestFailed", "WorkerDied", "ask", "log", "running", "stop"]

TIMEOUT = 600.0
"""Seconds that a request may take unless said otherwise."""
IDLE_SECONDS = 600.0
"""Seconds after which a worker that nobody asks leaves."""
COMPILE, LOOK, THROW_AWAY = "compile", "look", "throw-away"
"""Lanes: what a cell waits for; what a view asks for, which must not stand in its way; a process for one request."""
PLATFORMS = ("cpu", "tpu", "cuda")


def ask(
    platform: str,
    request: dict[str, Any],
    timeout: float = TIMEOUT,
    memory: int | None = None,
    lane: str = COMPILE,
    environment: Mapping[str, str] = MappingProxyType({}),
    progress: Progress | None = None,
) -> Any:
    """The answer of the platform's worker, started if there is none.

    Args:
      platform: "cpu", "tpu" or "cuda"; each has a worker of its own.
      request: {"method": name of a method of `worker_main.Compiler`, its arguments}.
      timeout: seconds.
      memory: bytes of resident memory; when None what is set for this process, half of the machine's unless it was.
      lane: COMPILE, LOOK or THROW_AWAY; each has a worker of its own.
      environment: of a throw-away process, above that of this one.
      progress: called while the request runs.

    Raises:
      WorkerDied: with the cause, when the worker did not survive; the next request gets a fresh one.
      RequestFailed: the error that XLA gave.
      KeyboardInterrupt: at once; the worker is killed.
    """
    limit = memory_limit.usual_limit() if memory is None else memory
    name = _name(platform, lane if lane != THROW_AWAY else uuid.uuid4().hex)
    if lane == LOOK:
        environment = {**pass_log.ENVIRONMENT, **environment}
    try:
        return _ask(_place(name, _name(platform, lane)), platform, environment, (request, timeout, limit, progress))
    finally:
        if lane == THROW_AWAY:
            _places.pop(name).close()


def _ask(place: _Place, platform: str, environment: Mapping[str, str], asked: tuple[Any, ...]) -> Any:
    with place.lock:
        for _ in range(2):
            if place.worker is None or not place.worker.alive:
                place.close()
                place.worker = _new(platform, environment)
            try:
                return place.worker.ask(*asked)
            except LeftIdle:
                continue
            finally:
                if not place.worker.alive:
                    place.close()
    raise WorkerDied(f"the {platform} compile worker left before it could be asked", "exit")


def _new(platform: str, environment: Mapping[str, str]) -> Worker:
    global _swept
    if not _swept:
        _swept = True
        folder.sweep()
    return Worker(platform, IDLE_SECONDS, environment)


def stop(platform: str, lane: str = LOOK) -> None:
    """End what the lane's worker is at, from any thread; who asked gets WorkerDied, cause "stopped"."""
    place = _places.get(_name(platform, lane))
    worker = place.worker if place else None
    if worker is not None:
        worker.stop()


def _name(platform: str, lane: str) -> str:
    return platform if lane == COMPILE else f"{platform}/{lane}"


class _Place:
    """Where a platform's worker stands, and who may ask it. `title` is what its log is known by."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lock = threading.RLock()
        self.worker: Worker | None = None

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.kill()
            _logs[self.title] = folder.log_of(worker.folder)
            worker.close()


_places: dict[str, _Place] = {}
_placing = threading.Lock()
_logs: dict[str, str] = {}
"""What the last worker that ended in each lane of each platform printed."""
_swept = False


def _place(name: str, title: str) -> _Place:
    with _placing:
        return _places.setdefault(name, _Place(title))


def log(platform: str) -> str:
    """What the platform's workers printed last, those that ended included; at most 64 kB of each."""
    found = {title: text for title, text in _logs.items() if title.split("/")[0] == platform}
    for place in list(_places.values()):
        if place.worker and place.title.split("/")[0] == platform:
            found[place.title] = folder.log_of(place.worker.folder)
    return "\n".join(f"{title}: {text.rstrip() or '(nothing)'}" for title, text in sorted(found.items()))


def running() -> dict[str, int]:
    """The process ids of the workers there are, by platform; those of other lanes as "cpu/look"."""
    return {name: place.worker.pid for name, place in list(_places.items()) if place.worker and place.worker.alive}


@atexit.register
def close_all() -> None:
    """End every worker and remove its files."""
    for place in list(_places.values()):
        place.close()


def _forget() -> None:
    """In a forked child the workers are the parent's."""
    global _placing
    _places.clear()
    _placing = threading.Lock()


os.register_at_fork(after_in_child=_forget)
