"""Which of this thread's JAX work is JAXStage's own, so that logs and profiles do not take it for the user's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

WAIT_MODULE = "jaxstage_wait"
"""The module that runs where a profile waits for what was launched before it."""


class _Work(threading.local):
    depth = 0


_work = _Work()


@contextmanager
def own_work() -> Iterator[None]:
    """What JAX does in this thread inside the block is asked for by JAXStage."""
    _work.depth += 1
    try:
        yield
    finally:
        _work.depth -= 1


def is_own_work() -> bool:
    """Whether this thread is inside such a block."""
    return _work.depth > 0
