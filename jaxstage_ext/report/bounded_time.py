"""The user's own code, asked for a moment: in a thread of its own, which is ended where it takes too long.

A loop inside C code cannot be ended, nor code that catches every exception and goes on.
"""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class TookTooLong(Exception):
    """The code did not end in time."""


class Asking(Generic[Value]):
    """A value that code in a thread computes.

    Attributes:
      over: whether its time is over, so that no exception in the thread is to be caught any more.
    """

    def __init__(self, compute: Callable[[Asking[Value]], Value]) -> None:
        self.over = False
        self._compute = compute
        self._values: list[Value] = []
        self._error: BaseException | None = None
        self._ending = threading.Lock()
        self._done = threading.Event()

    def value(self, seconds: float) -> Value:
        """The value. Raises what computing it raised, TookTooLong, and RuntimeError where no thread can be started."""
        thread = _thread.start_new_thread(contextvars.copy_context().run, (self._run,))
        try:
            self._done.wait(seconds)
        finally:
            self._end(thread)
        if self._error is not None and not self.over:
            raise self._error
        if not self._values:
            raise TookTooLong
        return self._values[0]

    def _run(self) -> None:
        try:
            self._values.append(self._compute(self))
        except BaseException as error:
            if self.over:
                raise
            self._error = error
        with self._ending:
            self._done.set()

    def _end(self, thread: int) -> None:
        """Raise SystemExit in the thread, which ends it silently at its next line of Python."""
        with self._ending:
            if not self._done.is_set():
                self.over = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(SystemExit))


def in_bounded_time(compute: Callable[[], Value], seconds: float) -> Value:
    """What `compute` gives or raises, or TookTooLong."""
    asking: Asking[Value] = Asking(lambda _: compute())
    return asking.value(seconds)
