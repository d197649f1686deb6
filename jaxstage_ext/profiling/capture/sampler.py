"""What line of the user's code a thread was at, looked up about every millisecond by another thread.

It costs far less than a tracer of every call, and says nothing of what was shorter than the time between two looks.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType

from jaxstage_ext.ir.sources.source import is_outside, is_user

INTERVAL = 0.001
"""Seconds between two looks, as far as Python lets the sampling thread run."""
_UNKNOWN_AFTER = 3
"""A gap of this many intervals beyond Python's own switch interval is unknown: nobody looked."""
MOST_STRETCHES = 1_000_000


@dataclass
class Stretch:
    """Time in which every look found the same place."""

    start: int
    end: int
    """`start`, `end`: Unix time in nanoseconds."""
    code: CodeType | None
    instruction: int
    """`code`, `instruction`: the user's innermost frame: its code and the offset of its instruction; None where no code
    of the user's was on the stack."""
    asker: CodeType | None = None
    asked_at: int = -1
    """`asker`, `asked_at`: where that is a generator or an iterator's `__next__`, the user's frame that asked for a
    value."""


@dataclass
class Samples:
    """What the sampling of a thread gave."""

    stretches: list[Stretch] = field(default_factory=list)
    """In the order of time; between two of them nobody looked."""
    looks: int = 0
    """How many times the thread was looked at."""
    unknown: int = 0
    """Nanoseconds in which nobody could look."""
    start: int = 0
    end: int = 0


@contextlib.contextmanager
def sampled(interval: float = INTERVAL) -> Iterator[Samples]:
    """Sample the thread that runs the block."""
    samples, done = Samples(start=time.time_ns()), threading.Event()
    target = threading.get_ident()
    thread = threading.Thread(
        target=_sample, args=(samples, target, interval, done), name="jaxstage sampler", daemon=True
    )
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join(5.0)
        samples.end = time.time_ns()


def _sample(samples: Samples, target: int, interval: float, done: threading.Event) -> None:
    longest = round((_UNKNOWN_AFTER * interval + 2 * sys.getswitchinterval()) * 1e9)
    step, last = round(interval * 1e9), 0
    while not done.wait(interval) and len(samples.stretches) < MOST_STRETCHES:
        place = _stack_of(sys._current_frames().get(target))
        now = time.time_ns()
        samples.looks += 1
        known = samples.stretches[-1] if samples.stretches else None
        if known is not None and now - last <= longest:
            known.end = now
            if (known.code, known.instruction, known.asker, known.asked_at) == place:
                last = now
                continue
        elif known is not None:
            known.end = min(last + step, now)
            samples.unknown += now - known.end
        samples.stretches.append(Stretch(now, now + step, *place))
        last = now


def place_of(frame: FrameType | None) -> tuple[CodeType | None, int]:
    """The user's innermost frame: its code and instruction; (None, -1) where no code of the user's is on the stack."""
    known = _users(frame)
    return (known.f_code, known.f_lasti) if known is not None else (None, -1)


def _stack_of(frame: FrameType | None) -> tuple[CodeType | None, int, CodeType | None, int]:
    """The user's innermost frame, and that which asked it for a value, where it is an iterator."""
    inner = outer = _users(frame)
    while outer is not None and _gives_values(outer.f_code):
        outer = _users(outer.f_back)
    asker = place_of(outer) if outer is not inner else (None, -1)
    return (*place_of(inner), *asker)


def _gives_values(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_GENERATOR) or code.co_name == "__next__"


def _users(frame: FrameType | None) -> FrameType | None:
    while frame is not None:
        file = frame.f_code.co_filename
        if is_outside(file):  # nor are its callers the user's program
            break
        if is_user(file):
            return frame
        frame = frame.f_back
    return None
