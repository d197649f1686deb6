"""One compile worker: its process, its pipes, and why it ended. `worker.py` says who may ask it."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jaxstage_ext.report.progress import Progress
from jaxstage_ext.worker import folder, memory_limit
from jaxstage_ext.worker.inside.main import IDLE

_TICK, _TOLD, _MEASURED = 0.1, 0.5, 1.0
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
      cause: "signal", "exit", "stopped", "time limit", "memory limit", "disk limit", "junk" or "start".
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


class Worker:
    """One worker process, its pipes, its folder with the log."""

    def __init__(self, platform: str, idle: float, environment: Mapping[str, str] = MappingProxyType({})) -> None:
        self.platform = platform
        self._stopped = False
        self.folder = _new_folder(platform)
        main = str(Path(__file__).with_name("inside") / "main.py")
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
        try:
            with open(self.folder / folder.LOG, "wb") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", main, str(idle)],
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
        folder.add_owner(self.folder, self.pid)
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
        except (RequestFailed, LeftIdle):
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
                "and was stopped; --memory SIZE gives it more",
                "memory limit",
            ) from None
        except _Full as full:
            self.kill()
            raise self._died(f"{full}, and was stopped", "disk limit") from None
        except _Gone:
            raise self._died(*self._why_gone()) from None
        except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.kill()
            raise self._died("gave an answer that cannot be read", "junk") from None
        except BaseException:
            self.kill()
            raise

    def _exchange(self, message: bytes, timeout: float, memory: int | None, progress: Progress | None) -> memoryview:
        """Send the message and give the answer. Raises _Late, _Large, _Full, _Gone, LeftIdle."""
        left, got = memoryview(message), bytearray()
        started = told = time.monotonic()
        with selectors.DefaultSelector() as ready:
            ready.register(self._in, selectors.EVENT_WRITE)
            ready.register(self._out, selectors.EVENT_READ)
            looked = measured = time.monotonic()
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
                    progress(now - started, folder.pass_reached(self.folder))
                if now - looked >= _TICK:
                    looked = now
                    self._check_memory(memory)
                if now - measured >= _MEASURED:
                    measured = now
                    self._check_folder()
        return memoryview(got)[8:size]

    def _write(self, left: memoryview) -> memoryview:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):  # the reading end tells why it broke
            return left[os.write(self._in, left[: 1 << 20]) :]
        return left

    def _read(self, got: bytearray, begun: bool) -> None:
        with contextlib.suppress(BlockingIOError):
            part = os.read(self._out, 1 << 20)
            if not part:
                self._process.wait()
                raise LeftIdle if self._process.returncode == IDLE and not got else _Gone
            got += part

    def _check_memory(self, limit: int | None) -> None:
        used = memory_limit.resident(self.pid)
        if limit is not None and used is not None and used > limit:
            raise _Large(used, limit)

    def _check_folder(self) -> None:
        if why := folder.too_full(self.folder):
            raise _Full(why)

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
        log = folder.last_words(self.folder)
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


class _Full(Exception):
    """The folder holds too much, or the disk too little."""


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


class LeftIdle(Exception):
    """The worker had gone by itself when it was asked."""


def _new_folder(platform: str) -> Path:
    try:
        return folder.new(platform)
    except OSError as error:
        raise WorkerDied(
            f"the compile worker has nowhere to write its log: {error}; set TMPDIR to a folder with room", "start"
        ) from None
