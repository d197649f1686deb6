"""Ends this process when the kernel that started it has ended, however that ended."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time

VARIABLE, FOLDER = "JAXSTAGE_KERNEL_PID", "JAXSTAGE_PROCESSES_FOLDER"
_PAUSE = 0.5


def watch(removes: bool = False) -> None:
    """Begin to watch, in a thread. Whoever starts this process gives it its own number in VARIABLE.

    Args:
      removes: whether this process removes the job's folder, which FOLDER names, when the kernel has ended.
    """
    kernel, folder = int(os.environ[VARIABLE]), os.environ[FOLDER] if removes else ""
    threading.Thread(target=_watch, args=(kernel, folder), name="jaxstage-parent-watch", daemon=True).start()


def _watch(kernel: int, folder: str) -> None:
    while os.getppid() == kernel:
        time.sleep(_PAUSE)
    if folder:
        time.sleep(2 * _PAUSE)  # until the others have ended, which write there
        shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpgid(0), signal.SIGKILL)  # of its own session: with the processes that it has started
