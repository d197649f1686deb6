"""The compile log during a block of code, whether or not it is kept otherwise."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from jaxstage_ext.compilation.events import listening

_lock = threading.Lock()
_open = 0
_began_here = False


@contextmanager
def listening_block() -> Iterator[bool]:
    """Keep the log as long as a thread is in such a block; one that was kept before goes on afterwards.

    Yields:
      Whether the log was kept before.
    """
    was_on = _enter()
    try:
        yield was_on
    finally:
        _leave()


def _enter() -> bool:
    global _open, _began_here
    with _lock:
        was_on = listening.is_on()
        if not _open:
            _began_here = not was_on
            listening.start()
        _open += 1
        return was_on


def _leave() -> None:
    global _open
    with _lock:
        _open -= 1
        if not _open and _began_here:
            listening.stop()
