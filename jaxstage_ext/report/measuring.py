"""Whether a figure that is not known may be measured now: not while something is only shown or saved."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

_is_left_alone: contextvars.ContextVar[bool] = contextvars.ContextVar("machine left alone", default=False)


@contextlib.contextmanager
def left_alone() -> Iterator[None]:
    """In the block nothing of this machine is measured: what is not known stays unknown."""
    before = _is_left_alone.set(True)
    try:
        yield
    finally:
        _is_left_alone.reset(before)


def is_allowed() -> bool:
    """Whether this thread may measure the machine."""
    return not _is_left_alone.get()
