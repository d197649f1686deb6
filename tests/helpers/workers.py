"""Compile workers under test: asked, stopped, watched."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from jaxstage_ext.core.targets import environments
from jaxstage_ext.worker import pool
from jaxstage_ext.worker.process import Worker


def ping() -> int:
    return int(pool.ask("cpu", {"method": "ping"}, timeout=120, environment=environments.taken("cpu"))["pid"])


def stopped() -> int:
    """A worker that hangs: it is there, but gets no time."""
    pid = ping()
    os.kill(pid, signal.SIGSTOP)
    return pid


@contextlib.contextmanager
def once_asked(do: Any) -> Iterator[None]:
    """Do it as soon as a worker is asked something."""
    exchange, threads = Worker._exchange, []

    def exchange_and_do(worker: Worker, *args: Any) -> Any:
        if not threads:
            threads.append(threading.Thread(target=do))
            threads[0].start()
        return exchange(worker, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "_exchange", exchange_and_do)
        yield
    for thread in threads:
        thread.join()


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(what: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def endless() -> dict[str, Any]:
    """A request on whose constants XLA's folding works for minutes."""
    image = np.random.default_rng(0).random((1000, 1000), np.float32)

    def sums():
        return jax.lax.reduce_window(image, 0.0, jax.lax.add, (64, 64), (1, 1), "SAME")

    return request_for(sums)


def request_for(function: Any, *arguments: Any) -> dict[str, Any]:
    """The request to compile a function for one CPU."""
    from jaxstage_ext.core.jax_private import lowered_modules

    lowered = jax.jit(function).lower(*arguments)
    module, options = lowered_modules.compile_request(lowered, "cpu", [0])
    return {
        "method": "compile",
        "platform": "cpu",
        "library": "",
        "kind": "",
        "topology": "",
        "room": 1,
        "order": [0],
        "module": module,
        "options": options,
        "large_constants": True,
    }
