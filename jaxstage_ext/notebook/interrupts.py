"""Ctrl-C while a panel fills in: it stops what runs, however often it comes, and the panel shows how far that got."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Self

QUIET = 1.0
"""Seconds after an interrupt in which further ones are kept: what ends a worker is not itself interrupted."""
TAIL = 0.05
"""Seconds without an interrupt after which the last of several has come; a kernel may not reply if one comes later."""
PATIENCE = 5.0
"""Seconds after which an interrupt ends also what must not be, should it hang."""


class Interrupts:
    """Takes SIGINT inside a `with` block: raises KeyboardInterrupt in `raised` blocks, and keeps it elsewhere.

    In a cell that awaits, IPython's kernel cancels awaited code only; here ordinary code is interrupted too.

    Attributes:
      kept: whether an interrupt came that was not raised.
    """

    def __init__(self) -> None:
        self.kept = False
        self._raises = False
        self._last: float | None = None
        self._latest: float | None = None
        self._former: Any = None

    def __enter__(self) -> Self:
        former = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(former):
            signal.signal(signal.SIGINT, self._interrupt)
            self._former = former
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._former is not None:
            while self._latest is not None and time.monotonic() - self._latest < TAIL:
                time.sleep(TAIL / 5)
            signal.signal(signal.SIGINT, self._former)

    @contextlib.contextmanager
    def raised(self) -> Iterator[None]:
        """In the block an interrupt is raised, unless one has just been; one that was kept is raised at once."""
        self._raises = True
        try:
            if self.kept:
                raise KeyboardInterrupt
            yield
        finally:
            self._raises = False

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._latest = now = time.monotonic()
        passed = PATIENCE if self._last is None else now - self._last
        if passed >= QUIET if self._raises else self._last is not None and passed >= PATIENCE:
            self._last = now
            raise KeyboardInterrupt
        self.kept = True
        self._last = now if self._last is None else self._last
