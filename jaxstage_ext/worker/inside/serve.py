"""The program of a compile worker: requests in, answers out.

It is started by path, with its settings as one JSON argument, and talks through the pipes it was born with: eight bytes
of length, then a pickle, between processes of the same user and program. It may die at any time, because XLA aborts,
crashes, hangs and exhausts memory. Whatever Python or C++ prints goes to its standard error, which is its log.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import resource
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jaxstage_ext.worker.inside.compiler import Compiler

LARGEST_FILE = 8 << 30


class Settings(NamedTuple):
    """What the process that starts a worker says about it."""

    idle_seconds: float
    """Without a request, after which the worker exits with `idle_status`."""
    idle_status: int
    log: str
    """Name of the log file in the working directory."""
    dump_prefix: str
    """How the folders begin that XLA dumps into."""


def main(settings: Settings) -> None:
    """Answer requests until the other end closes, or none arrives for `idle_seconds`."""
    replies, requests = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()
    from jaxstage_ext.worker.inside.compiler import (
        Compiler,  # prints go to the log, and a kernel that is gone is noticed
    )

    compiler = Compiler(Path(settings.log), settings.dump_prefix)
    while True:
        try:
            request = inbox.get(timeout=settings.idle_seconds)
        except queue.Empty:
            os._exit(settings.idle_status)
        data = pickle.dumps(_answer(compiler, request), pickle.HIGHEST_PROTOCOL)
        replies.write(len(data).to_bytes(8, "little"))
        replies.write(data)
        replies.flush()
        if compiler.leaving:
            os._exit(settings.idle_status)


def _limit(resource_kind: int, limit: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(resource_kind)[1]
        resource.setrlimit(resource_kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _receive(requests: Any, inbox: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Pass requests on. When the kernel is gone, even during a compile, remove the working directory and exit."""
    while len(head := requests.read(8)) == 8:
        inbox.put(pickle.loads(requests.read(int.from_bytes(head, "little"))))
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    os._exit(0)


def _answer(compiler: Compiler, request: dict[str, Any]) -> dict[str, Any]:
    try:
        method = getattr(compiler, request.pop("method"))
        return {"result": method(**request)}
    except Exception as error:
        return {"error": (type(error).__name__, str(error))}


if __name__ == "__main__":
    main(Settings(**json.loads(sys.argv[1])))
