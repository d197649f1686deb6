"""The compile workers: processes that may die. Started on first need, kept warm, one for each platform and lane.

A worker that was started in another environment than a request is for is replaced: see `CompileEnvironment`.

`ask` sends a request and waits. A crash, a hang, too much memory or an interrupt ends the worker and the request,
never the kernel; the next request gets a fresh worker. What a worker prints goes to a log of its own.
"""

from __future__ import annotations

import atexit
import os
import threading
import uuid
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.uninterrupted import uninterrupted
from jaxstage_ext.worker import compile_environment, folder, memory_limit
from jaxstage_ext.worker.compile_environment import CompileEnvironment
from jaxstage_ext.worker.process import Worker
from jaxstage_ext.worker.request_errors import LeftIdle, RequestFailed, WorkerDied

__all__ = [
    "COMPILE",
    "MEASURE",
    "ONE_REQUEST",
    "PARTITIONS",
    "RECOMPILE",
    "RequestFailed",
    "WorkerDied",
    "ask",
    "has_worker",
    "log",
    "running",
    "start",
    "stop",
]

TIMEOUT = 600.0
"""Seconds that a request may take unless it says otherwise."""
IDLE_SECONDS = 600.0
"""Seconds without a request after which a worker exits."""
_PATIENCE = 2.0
"""Seconds that `close_all` waits for the thread of a request that it stopped."""
COMPILE, RECOMPILE, ONE_REQUEST, MEASURE = "compile", "recompile", "one request", "measure"
"""Lanes: what a cell waits for; what a view asks for later, so that no cell waits for it; a process for one request;
what measures the machine, which the next cell stops."""
PARTITIONS = tuple(f"partition {number}" for number in range(16))
"""Lanes of the partitioner, which several workers may run at once."""
PLATFORMS = ("cpu", "tpu", "cuda")
_LOGS_PASSES = {
    "TF_CPP_VMODULE": "hlo_pass_pipeline=1",
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "TPU_VMODULE": "hlo_pass_pipeline=1",
    "TPU_MIN_LOG_LEVEL": "0",
    "TPU_STDERR_LOG_LEVEL": "0",
}
"""The environment in which XLA logs every pass that it runs, whatever the platform."""


def ask(
    platform: str,
    request: dict[str, Any],
    timeout: float = TIMEOUT,
    memory: int | None = None,
    lane: str = COMPILE,
    variables: Mapping[str, str] = MappingProxyType({}),
    progress: Progress | None = None,
    environment: CompileEnvironment | None = None,
) -> Any:
    """The answer of the platform's worker, started if none is running.

    Args:
      platform: "cpu", "tpu" or "cuda"; each has a worker of its own.
      request: {"method": name of a method of `worker.inside.compiler.Compiler`, its arguments}.
      timeout: seconds.
      memory: bytes of resident memory; when None `memory_limit.default`.
      lane: COMPILE, RECOMPILE, ONE_REQUEST, MEASURE or one of PARTITIONS; each has a worker of its own.
      variables: of the process for ONE_REQUEST, on top of the environment.
      progress: called while the request runs.
      environment: what the worker's process is started in; when None that of this process, whatever the compiler.

    Raises:
      WorkerDied: with the cause, when the worker did not survive; the next request gets a fresh one.
      RequestFailed: the error that XLA gave.
      KeyboardInterrupt: at once; the worker is killed.
    """
    if lane not in (COMPILE, RECOMPILE, ONE_REQUEST, MEASURE) and lane not in PARTITIONS:
        raise ValueError(f"{lane!r} is not a lane; use {COMPILE!r}, {RECOMPILE!r} or {ONE_REQUEST!r}")
    limit = memory_limit.default() if memory is None else memory
    name = _name(platform, lane if lane != ONE_REQUEST else uuid.uuid4().hex)
    if lane == RECOMPILE:
        variables = {**_LOGS_PASSES, **variables}
    try:
        slot = _slot(name, _name(platform, lane))
        return _ask(slot, environment, (platform, variables), (request, timeout, limit, progress))
    finally:
        if lane == ONE_REQUEST:
            with uninterrupted():
                _slots.pop(name, _Slot(name)).close()


def _ask(
    slot: _Slot, wanted: CompileEnvironment | None, start: tuple[str, Mapping[str, str]], arguments: tuple[Any, ...]
) -> Any:
    platform, variables = start
    with slot.lock:
        for _ in range(2):
            environment = wanted or _current(slot)
            if slot.worker is None or not slot.worker.usable or slot.worker.environment != environment:
                with uninterrupted():
                    slot.close()
                    slot.worker = _new(platform, environment, variables)
            try:
                return slot.worker.ask(*arguments)
            except LeftIdle:
                continue
            finally:
                if slot.worker is not None and not slot.worker.usable:
                    slot.close()
    raise WorkerDied(f"the {platform} compile worker exited before the request reached it", "exit")


def has_worker(platform: str) -> bool:
    """Whether compiles for a platform have a worker, be it one that has left since."""
    slot = _slots.get(_name(platform, COMPILE))
    return slot is not None and slot.worker is not None


def start(platform: str, environment: CompileEnvironment) -> None:
    """Start the worker of a platform's compiles where there is none. Nobody waits for it, and another may be first."""
    name = _name(platform, COMPILE)
    slot = _slot(name, name)
    if not slot.lock.acquire(blocking=False):
        return
    try:
        if slot.worker is None:
            with uninterrupted():
                slot.worker = _new(platform, environment, {})
    finally:
        slot.lock.release()


def _current(slot: _Slot) -> CompileEnvironment:
    """The environment of this process, for a request that takes any compiler, that of the slot's worker too."""
    current, worker = compile_environment.current(), slot.worker
    return replace(current, compiler=worker.environment.compiler, files=worker.environment.files) if worker else current


def _new(platform: str, environment: CompileEnvironment, variables: Mapping[str, str]) -> Worker:
    global _swept
    if not _swept:
        _swept = True
        folder.sweep()
    return Worker(platform, IDLE_SECONDS, environment, variables)


def stop(platform: str, lane: str = RECOMPILE) -> None:
    """Stop the request that the lane's worker runs, from any thread; its caller gets WorkerDied, cause "stopped"."""
    slot = _slots.get(_name(platform, lane))
    worker = slot.worker if slot else None
    if worker is not None:
        worker.stop()


def restart(platform: str, lane: str) -> None:
    """End the lane's worker once it answers nothing, so that the next request gets a fresh one."""
    if slot := _slots.get(_name(platform, lane)):
        with slot.lock:
            slot.close()


def _name(platform: str, lane: str) -> str:
    return platform if lane == COMPILE else f"{platform}/{lane}"


class _Slot:
    """The worker of one platform and lane, and whose turn it is to ask it. `title` is what its log is known by."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lock = threading.RLock()
        self.worker: Worker | None = None

    def close(self) -> None:
        with uninterrupted():
            worker = self.worker
            if worker is not None:
                worker.kill()
                _logs[self.title] = folder.log_of(worker.folder)
                worker.close()
            self.worker = None  # at the end: what was not closed is closed by the next who asks

    def end(self) -> None:
        """Stop the request under way, whose thread then closes the slot; close it here where there is none."""
        worker = self.worker
        if worker is not None:
            worker.stop()
        if self.lock.acquire(timeout=_PATIENCE):
            try:
                self.close()
            finally:
                self.lock.release()


_slots: dict[str, _Slot] = {}
_slots_lock = threading.Lock()
_logs: dict[str, str] = {}
"""What the last worker that ended in each lane of each platform printed."""
_swept = False


def _slot(name: str, title: str) -> _Slot:
    with _slots_lock:
        return _slots.setdefault(name, _Slot(title))


def log(platform: str) -> str:
    """What the platform's workers printed last, those that ended included; at most 64 kB of each."""
    logs = {title: text for title, text in _logs.items() if title.split("/")[0] == platform}
    for slot in list(_slots.values()):
        if slot.worker and slot.title.split("/")[0] == platform:
            logs[slot.title] = folder.log_of(slot.worker.folder)
    return "\n".join(f"{title}: {text.rstrip() or '(nothing)'}" for title, text in sorted(logs.items()))


def running() -> dict[str, int]:
    """The process ids of the running workers, by platform; those of other lanes as "cpu/recompile"."""
    return {name: slot.worker.pid for name, slot in list(_slots.items()) if slot.worker and slot.worker.alive}


@atexit.register
def close_all() -> None:
    """End every worker, with the request that it runs, and remove its files."""
    for slot in list(_slots.values()):
        slot.end()


def _forget() -> None:
    """In a forked child the workers are the parent's."""
    global _slots_lock
    for slot in _slots.values():
        if slot.worker is not None:
            slot.worker.disown()
    _slots.clear()
    _slots_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
