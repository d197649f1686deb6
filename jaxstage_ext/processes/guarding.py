"""Turns the guard on and off: JAX's events are listened to as long as a block, or a guarded script, runs."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from jaxstage_ext.ir.sources import source

if TYPE_CHECKING:
    from jaxstage_ext.processes.guard import Guard

_COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"
_lock = threading.Lock()
_blocks = 0
_guard: Guard | None = None


@contextlib.contextmanager
def guarded(timeout: float, folder: Path) -> Iterator[Guard]:
    """Compare programs inside the block. A block inside another one is part of that."""
    if _guard is not None:
        yield _guard
        return
    guard = begin(timeout, folder)
    error: BaseException | None = None
    try:
        yield guard
    except BaseException as raised:
        error = raised
        raise
    finally:
        end(error)


def begin(timeout: float, folder: Path) -> Guard:
    """Compare programs from now on. It imports JAX."""
    global _guard, _blocks
    from jax import monitoring

    from jaxstage_ext.processes.guard import Guard

    with _lock:
        _blocks += 1
        _guard = Guard(_blocks, timeout, folder)
        monitoring.register_scalar_listener(_on_scalar)
        return _guard


def end(error: BaseException | None) -> None:
    """Compare no more, and tell the other processes how this one ended."""
    global _guard
    from jax import monitoring

    with _lock:
        guard, _guard = _guard, None
        with contextlib.suppress(AssertionError, ValueError):  # the user has removed it
            monitoring.unregister_scalar_listener(_on_scalar)
    if guard is not None:
        guard.end(error, _place(error.__traceback__ if error is not None else None))


def tell_error(error: BaseException) -> None:
    """A cell of this process has ended with an error: the other processes are not to wait for it."""
    guard = _guard
    if guard is not None:
        guard.end(error, _place(error.__traceback__), stays=True)


def renew(timeout: float, folder: Path) -> None:
    """Begin the next block where a process has ended this one; all processes do so before their next cell."""
    global _guard, _blocks
    with _lock:
        if _guard is not None and _guard.is_over():
            _blocks += 1
            _guard = _guard.renewed(_blocks, timeout, folder)


def is_on() -> bool:
    """Whether programs are compared at this moment."""
    return _guard is not None


def _on_scalar(event: str, value: float, **details: Any) -> None:
    """JAX tells that a compile begins. What the guard raises stops it, and reaches the user's call."""
    guard = _guard
    if event == _COMPILE_EVENT and guard is not None:
        _check(guard, sys._getframe(1))


def _check(guard: Guard, frame: FrameType | None) -> None:
    from jaxstage_ext.core.jax_private import compile_frames

    guard.check(compile_frames.event_frames(frame))


def _place(trace: TracebackType | None) -> str:
    """The innermost line of the user's in a traceback."""
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if source.is_user(file) and not source.is_outside(file):
            from jaxstage_ext.processes.program_reading import place_label

            place = f"{place_label(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
