"""The compile worker: a process that may die. Started on first need, kept warm, one a platform and lane.

`ask` sends a request and waits. A crash, a hang, too much memory or an interrupt ends the worker and the request,
never the kernel; the next request gets a fresh one. What the worker prints goes to a log of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jaxstage_ext.core import process_memory
from jaxstage_ext.core.worker_main import DUMP, IDLE

TIMEOUT = 600.0
"""Seconds that a request may take unless said otherwise."""
IDLE_SECONDS = 600.0
"""Seconds after which a worker that nobody asks leaves."""
COMPILE, LOOK, THROW_AWAY = "compile", "look", "throw-away"
"""Lanes: what a cell waits for; what a view asks for, which must not stand in its way; a process for one request."""
_TICK, _TOLD = 0.1, 0.5
_LOG_LINES, _LOG_BYTES = 8, 65536
_STACK = re.compile(r"\s*(?:PC: )?@ |https?://symbolize|\*\*\* Check failure stack trace|\s*$")
_PASS = re.compile(r"\.(?P<number>\d{4})\.(?P<pipeline>[^.]+)\.(?:after_(?P<name>[^.]+)|\d+)\.")
_ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",  # without it libtpu waits for a metadata server for ever
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",  # any will do; without one libtpu complains
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # the kernel may hold libtpu's lock
    "TPU_LOG_DIR": "disabled",
    "TPU_MIN_LOG_LEVEL": "2",
    "TPU_STDERR_LOG_LEVEL": "2",
    "TF_CPP_MIN_LOG_LEVEL": "1",
}


class WorkerDied(RuntimeError):
    """A request that the worker did not survive.

    Attributes:
      cause: "signal", "exit", "stopped", "time limit", "memory limit", "junk" or "start".
      log: the last lines that the worker printed.
    """

    def __init__(self, message: str, cause: str, log: str = "") -> None:
        super().__init__(f"{message}. The last lines of its log:\n{log}" if log else message)
        self.cause, self.log = cause, log


class RequestFailed(RuntimeError):
    """The worker lives and says no: XLA's own error. `type` is the name of its class."""

    def __init__(self, type_: str, message: str) -> None:
        super().__init__(message)
        self.type = type_


Progress = Callable[[float, str | None], None]
"""Told about twice a second how many seconds a request has run and, where dumps tell, which pass is reached."""


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
      memory: bytes of resident memory; half of the machine's when None.
      lane: COMPILE, LOOK or THROW_AWAY; each has a worker of its own.
      environment: of a throw-away process, above that of this one.
      progress: called while the request runs.

    Raises:
      WorkerDied: with the cause, when the worker did not survive; the next request gets a fresh one.
      RequestFailed: the error that XLA gave.
      KeyboardInterrupt: at once; the worker is killed.
    """
    limit = process_memory.half_of_machine() if memory is None else memory
    name = _name(platform, lane if lane != THROW_AWAY else uuid.uuid4().hex)
    try:
        return _ask(_place(name), platform, environment, (request, timeout, limit, progress))
    finally:
        if lane == THROW_AWAY:
            _places.pop(name).close()


def _ask(place: _Place, platform: str, environment: Mapping[str, str], asked: tuple[Any, ...]) -> Any:
    with place.lock:
        for _ in range(2):
            if place.worker is None or not place.worker.alive:
                place.close()
                place.worker = Worker(platform, environment)
            try:
                return place.worker.ask(*asked)
            except _LeftIdle:
                continue
            finally:
                if not place.worker.alive:
                    place.close()
    raise WorkerDied(f"the {platform} compile worker left before it could be asked", "exit")


def stop(platform: str, lane: str = LOOK) -> None:
    """End what the lane's worker is at, from any thread; who asked gets WorkerDied, cause "stopped"."""
    place = _places.get(_name(platform, lane))
    worker = place.worker if place else None
    if worker is not None:
        worker.stop()


def _name(platform: str, lane: str) -> str:
    return platform if lane == COMPILE else f"{platform}/{lane}"


class _LeftIdle(Exception):
    """The worker had gone by itself when it was asked."""


class _Place:
    """Where a platform's worker stands, and who may ask it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.worker: Worker | None = None

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()


_places: dict[str, _Place] = {}
_placing = threading.Lock()


def _place(name: str) -> _Place:
    with _placing:
        return _places.setdefault(name, _Place())


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


class Worker:
    """One worker process, its pipes, its folder with the log."""

    def __init__(self, platform: str, environment: Mapping[str, str] = MappingProxyType({})) -> None:
        self.platform = platform
        self._stopped = False
        self.folder = _new_folder(platform)
        main = str(Path(__file__).with_name("worker_main.py"))
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
        try:
            with open(self.folder / "log", "wb") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", main, str(IDLE_SECONDS)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=self.folder,
                    env={**os.environ, **_ENVIRONMENT, **environment, "PYTHONPATH": path, "TMPDIR": str(self.folder)},
                    start_new_session=True,  # the kernel's Ctrl-C is not for it
                    bufsize=0,
                )
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise WorkerDied(f"the compile worker cannot be started: {error}", "start") from None
        assert self._process.stdin and self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: dict[str, Any], timeout: float, memory: int | None, progress: Progress | None = None) -> Any:
        data = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        try:
            received = self._exchange(len(data).to_bytes(8, "little") + data, timeout, memory, progress)
            reply = pickle.loads(received)
            if "error" in reply:
                raise RequestFailed(*reply["error"])
            return reply["result"]
        except (RequestFailed, _LeftIdle):
            raise
        except _Late:
            self.kill()
            raise self._died(
                f"took longer than {timeout:g} s and was stopped; --timeout SECONDS gives it longer", "time limit"
            ) from None
        except _Large as large:
            self.kill()
            raise self._died(
                f"took {large.used / 1e9:.1f} GB of memory, over the limit of {large.limit / 1e9:.1f} GB, "
                "and was stopped",
                "memory limit",
            ) from None
        except _Gone:
            raise self._died(*self._why_gone()) from None
        except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.kill()
            raise self._died("gave an answer that cannot be read", "junk") from None
        except BaseException:
            self.kill()
            raise

    def _exchange(self, message: bytes, timeout: float, memory: int | None, progress: Progress | None) -> bytes:
        """Send the message and give the answer. Raises _Late, _Large, _Gone, _LeftIdle."""
        left, got = memoryview(message), bytearray()
        started = told = time.monotonic()
        with selectors.DefaultSelector() as ready:
            ready.register(self._in, selectors.EVENT_WRITE)
            ready.register(self._out, selectors.EVENT_READ)
            looked = time.monotonic()
            while (size := _size(got)) is None or len(got) < size:
                for key, _ in ready.select(_TICK):
                    if key.fd == self._out:
                        self._read(got, begun=len(left) < len(message))
                    elif not (left := self._write(left)):
                        ready.unregister(self._in)
                now = time.monotonic()
                if now > started + timeout:
                    raise _Late
                if progress and now - told >= _TOLD:
                    told = now
                    progress(now - started, pass_reached(self.folder))
                if now - looked >= _TICK:
                    looked = now
                    self._check_memory(memory)
        return bytes(got[8:size])

    def _write(self, left: memoryview) -> memoryview:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):  # the reading end tells why it broke
            return left[os.write(self._in, left[: 1 << 20]) :]
        return left

    def _read(self, got: bytearray, begun: bool) -> None:
        with contextlib.suppress(BlockingIOError):
            part = os.read(self._out, 1 << 20)
            if not part:
                self._process.wait()
                raise _LeftIdle if self._process.returncode == IDLE and not got else _Gone
            got += part

    def _check_memory(self, limit: int | None) -> None:
        used = process_memory.resident(self.pid)
        if limit is not None and used is not None and used > limit:
            raise _Large(used, limit)

    def _why_gone(self) -> tuple[str, str]:
        code = self._process.returncode
        if self._stopped:
            return "was stopped", "stopped"
        if code >= 0:
            return f"ended by itself with exit status {code}", "exit"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        meaning = f" ({_MEANINGS[name]})" if name in _MEANINGS else ""
        return f"was ended by {name}{meaning}", "signal"

    def _died(self, what: str, cause: str) -> WorkerDied:
        log = tail(self.folder / "log")
        return WorkerDied(f"the compile worker for {self.platform} {what}", cause, log)

    def stop(self) -> None:
        self._stopped = True
        self._process.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it and remove its files."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)


_MEANINGS = {
    "SIGSEGV": "a crash: invalid memory access",
    "SIGBUS": "a crash: invalid memory access, or no space left",
    "SIGABRT": "XLA gave up",
    "SIGFPE": "a crash: invalid arithmetic",
    "SIGILL": "a crash: invalid instruction",
    "SIGKILL": "from outside; the system does that when memory runs out",
}


class _Late(Exception):
    """The deadline has passed."""


class _Gone(Exception):
    """The worker's end of the pipe is closed."""


class _Large(Exception):
    def __init__(self, used: int, limit: int) -> None:
        super().__init__(used, limit)
        self.used, self.limit = used, limit


def _size(got: bytearray) -> int | None:
    """Bytes of the whole message with its head; None before that is known."""
    if len(got) < 8:
        return None
    size = int.from_bytes(got[:8], "little")
    if size > 1 << 36:
        raise ValueError(f"an answer of {size} bytes")
    return size + 8


def pass_reached(folder: Path) -> str | None:
    """The pass that XLA wrote last into a dump folder of the worker's; None where nothing is dumped."""
    newest, number = None, -1
    for dump in folder.glob(f"{DUMP}*"):
        with contextlib.suppress(OSError):
            for entry in os.scandir(dump):
                if (found := _PASS.search(entry.name)) and int(found["number"]) > number:
                    newest, number = found, int(found["number"])
    return f"{newest['pipeline']}: {newest['name']}" if newest else None


def tail(log: Path) -> str:
    """The last lines of a log, C++ stacks left out."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line[:300] for line in [line for line in lines if not _STACK.match(line)][-_LOG_LINES:])


def _new_folder(platform: str) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=f"jaxstage-{platform}-"))
    except OSError as error:
        raise WorkerDied(f"the compile worker has nowhere to write its log: {error}", "start") from None
