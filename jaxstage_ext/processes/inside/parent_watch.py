"""Ends this process when the kernel that started it has ended, however that ended."""

from __future__ import annotations

import os
import signal
import threading
import time

VARIABLE = "JAXSTAGE_KERNEL_PID"
_PAUSE = 0.5


def watch() -> None:
    """Begin to watch, in a thread. Whoever starts this process gives it its own number in VARIABLE."""
    kernel = int(os.environ[VARIABLE])
    threading.Thread(target=_watch, args=(kernel,), name="jaxstage-parent-watch", daemon=True).start()


def _watch(kernel: int) -> None:
    while os.getppid() == kernel:
        time.sleep(_PAUSE)
    os.killpg(os.getpgid(0), signal.SIGKILL)  # of its own session: with the processes that it has started
