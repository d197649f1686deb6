"""Code that an interrupt must not cut in two, such as ending a process and forgetting it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let SIGINT wait until the block has ended. Only the main thread gets it, so elsewhere this does nothing."""
    former = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(former):
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
        if came:
            former(signal.SIGINT, came[0])


def surely(act: Callable[[], object]) -> None:
    """Do to its end what may be begun again; a Ctrl-C that comes before `uninterrupted` holds it back is raised then.

    What `act` raises itself ends it.
    """
    is_done, late = False, None
    while not is_done:
        try:
            with uninterrupted():
                act()
                is_done = True
        except KeyboardInterrupt as error:
            late = error
    if late is not None:
        raise late
