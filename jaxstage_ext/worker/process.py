"""One compile worker: its process, its pipes, and why it ended. `pool` keeps the workers and sends them requests."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.uninterrupted import uninterrupted
from jaxstage_ext.worker import folder, memory_limit
from jaxstage_ext.worker.compile_environment import CompileEnvironment, process_environment
from jaxstage_ext.worker.request_errors import LeftIdle, OverLimit, PipeClosed, RequestFailed, WorkerDied

IDLE_STATUS = 75
"""Exit status of a worker that left because no request came."""
_PROGRAM = Path(__file__).with_name("inside") / "serve.py"
_CHECK_MEMORY, _REPORT, _CHECK_FOLDER = 0.1, 0.5, 1.0
"""Seconds between two of each while a request runs."""
_MOST_BYTES = 1 << 36


class Worker:
    """One worker process, its pipes, its folder with the log.

    Attributes:
      environment: what the process was started in; `more` variables, which decide nothing, come on top of it.
    """

    def __init__(
        self,
        platform: str,
        idle: float,
        environment: CompileEnvironment,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.platform, self.environment = platform, environment
        self._stopped = self._owes_answer = False
        self.folder = _new_folder(platform)
        try:
            self._process = _started(self.folder, idle, {**process_environment(environment), **more})
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise WorkerDied(f"the compile worker cannot be started: {error}", "start") from None
        folder.add_owner(self.folder, self.pid)
        assert self._process.stdin and self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._waiting = threading.Thread(target=_wait_for, args=(self._process,), name="jaxstage worker", daemon=True)
        self._waiting.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def usable(self) -> bool:
        """Whether it waits for a request.

        One whose answer nobody took would give it to the next request; one that was told to stop is alive a while yet.
        """
        return self.alive and not self._owes_answer and not self._stopped

    def ask(self, request: dict[str, Any], timeout: float, memory: int | None, progress: Progress | None = None) -> Any:
        """The answer to a request. Raises RequestFailed, WorkerDied, LeftIdle; any other interruption kills it too."""
        data = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        self._owes_answer = True
        try:
            answer = self._exchange(len(data).to_bytes(8, "little") + data, timeout, memory, progress)
            self._owes_answer = False
            reply = pickle.loads(answer)
            if "error" in reply:
                raise RequestFailed(*reply["error"])
            return reply["result"]
        except (RequestFailed, LeftIdle):
            raise
        except OverLimit as over:
            self.kill()
            raise self._died(str(over), over.cause) from None
        except PipeClosed:
            raise self._died(*self._why_ended()) from None
        except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.kill()
            raise self._died("gave an answer that cannot be read", "junk") from None
        except BaseException:
            with uninterrupted():
                self.kill()
            raise

    def _exchange(self, message: bytes, timeout: float, memory: int | None, progress: Progress | None) -> memoryview:
        """Send the message and return the answer. Raises OverLimit, PipeClosed, LeftIdle."""
        unsent, answer = memoryview(message), bytearray()
        started = reported = memory_checked = folder_checked = time.monotonic()
        with selectors.DefaultSelector() as ready:
            ready.register(self._in, selectors.EVENT_WRITE)
            ready.register(self._out, selectors.EVENT_READ)
            while (size := _size(answer)) is None or len(answer) < size:
                for key, _ in ready.select(_CHECK_MEMORY):
                    if key.fd == self._out:
                        self._read(answer)
                    elif not (unsent := self._write(unsent)):
                        ready.unregister(self._in)
                now = time.monotonic()
                if now > started + timeout:
                    why = f"took longer than {timeout:g} s and was stopped; --timeout SECONDS gives it longer"
                    raise OverLimit(why, "time limit")
                if progress and now - reported >= _REPORT:
                    reported = now
                    progress(now - started, folder.pass_reached(self.folder))
                if now - memory_checked >= _CHECK_MEMORY:
                    memory_checked = now
                    self._check_memory(memory)
                if now - folder_checked >= _CHECK_FOLDER:
                    folder_checked = now
                    self._check_folder()
        return memoryview(answer)[8:size]

    def _write(self, unsent: memoryview) -> memoryview:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):  # the end that reads finds out why it broke
            return unsent[os.write(self._in, unsent[: 1 << 20]) :]
        return unsent

    def _read(self, answer: bytearray) -> None:
        with contextlib.suppress(BlockingIOError):
            part = os.read(self._out, 1 << 20)
            if not part:
                self._process.wait()
                raise LeftIdle if self._process.returncode == IDLE_STATUS and not answer else PipeClosed
            answer += part

    def _check_memory(self, limit: int | None) -> None:
        used = memory_limit.resident(self.pid)
        if limit is not None and used is not None and used > limit:
            raise OverLimit(
                f"took {used / 1e9:.1f} GB of memory, over the limit of {limit / 1e9:.1f} GB, "
                "and was stopped; --memory SIZE gives it more",
                "memory limit",
            )

    def _check_folder(self) -> None:
        if why := folder.too_full(self.folder):
            why = f"{why}, and was stopped; set TMPDIR to a folder with more room and restart the kernel"
            raise OverLimit(why, "disk limit")

    def _why_ended(self) -> tuple[str, str]:
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
        log = "" if cause == "stopped" else folder.last_words(self.folder)  # what it said is no reason
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
        self._waiting.join()
        self._close_pipes()
        shutil.rmtree(self.folder, ignore_errors=True)

    def disown(self) -> None:
        """In a forked child, leave the worker to the parent: the child's ends of the pipes would keep it alive."""
        self._close_pipes()
        self._process.returncode = 0  # it is not the child's to wait for

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


_MEANINGS = {
    "SIGSEGV": "a crash: invalid memory access",
    "SIGBUS": "a crash: invalid memory access, or no space left",
    "SIGABRT": "XLA gave up",
    "SIGFPE": "a crash: invalid arithmetic",
    "SIGILL": "a crash: invalid instruction",
    "SIGKILL": "from outside; the system does that when memory runs out",
}


def _started(home: Path, idle: float, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """The process of `inside/serve.py`; its settings are what it would otherwise have to import from here."""
    settings = {"idle_seconds": idle, "idle_status": IDLE_STATUS, "log": folder.LOG, "dump_prefix": folder.DUMP}
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    with open(home / folder.LOG, "wb") as log:
        return subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=home,
            env={**environment, "PYTHONPATH": path, "TMPDIR": str(home)},
            start_new_session=True,  # the kernel's Ctrl-C is not for it
            bufsize=0,
        )


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    """Wait for the process, so that it does not stay as a zombie when it leaves by itself or is killed."""
    if hasattr(os, "waitid"):
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    process.wait()


def _size(answer: bytearray) -> int | None:
    """Bytes of the whole answer with its head; None before that is known."""
    if len(answer) < 8:
        return None
    size = int.from_bytes(answer[:8], "little")
    if size > _MOST_BYTES:
        raise ValueError(f"an answer of {size} bytes")
    return size + 8


def _new_folder(platform: str) -> Path:
    try:
        return folder.new(platform)
    except OSError as error:
        raise WorkerDied(
            f"the compile worker has nowhere to write its log: {error}; set TMPDIR to a folder with room", "start"
        ) from None
