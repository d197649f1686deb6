"""Interrupts that a test sends to itself, and those from outside, which end the session whatever became of them.

Code under test keeps an interrupt as the result of a stage, and Python drops one that comes while it collects garbage.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

_out, _in = os.pipe()
os.set_blocking(_out, False)
os.set_blocking(_in, False)
_sent: list[int] = []


def interrupt() -> None:
    """Ctrl-C, as a test of interrupts sends it."""
    _sent.append(signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)


def _came() -> Iterator[int]:
    """The signals since the last look."""
    with contextlib.suppress(BlockingIOError):
        while numbers := os.read(_out, 1 << 16):
            yield from numbers


def pytest_runtest_logstart() -> None:
    signal.set_wakeup_fd(_in, warn_on_full_buffer=False)
    list(_came())
    _sent.clear()


def pytest_runtest_logfinish() -> None:
    if list(_came()).count(signal.SIGINT) > len(_sent):
        raise KeyboardInterrupt
