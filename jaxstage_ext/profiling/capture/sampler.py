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
"""A gap of this many intervals beyond Python's own switch interval is unknown: nobody looked. It is known where the
thread waited: it stands where it stood, and has computed nothing meanwhile."""
_AT_REST = 50_000
"""Nanoseconds of processor time below which a thread has computed nothing."""
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
    looks = _Looks(samples, threading.get_ident(), _own_clock(), interval)
    thread = threading.Thread(target=looks.until, args=(done,), name="jaxstage sampler", daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join(5.0)
        samples.end = time.time_ns()


class _Looks:
    """Looks at a thread, by its ident and the clock of its processor time; None where there is no such clock."""

    def __init__(self, samples: Samples, target: int, clock: int | None, interval: float) -> None:
        self._samples, self._target, self._clock, self._interval = samples, target, clock, interval
        self._longest = round((_UNKNOWN_AFTER * interval + 2 * sys.getswitchinterval()) * 1e9)
        self._last, self._computed = 0, self._processor_time()

    def until(self, done: threading.Event) -> None:
        """Look every interval until an event is set."""
        while not done.wait(self._interval) and len(self._samples.stretches) < MOST_STRETCHES:
            self._look()

    def _look(self) -> None:
        place = _stack_of(sys._current_frames().get(self._target))
        known = self._samples.stretches[-1] if self._samples.stretches else None
        is_there = known is not None and (known.code, known.instruction, known.asker, known.asked_at) == place
        is_at_rest = self._has_rested() and is_there
        now, last, step = time.time_ns(), self._last, round(self._interval * 1e9)
        self._samples.looks += 1
        self._last = now
        if known is not None:
            is_seen = now - last <= self._longest or is_at_rest
            known.end = now if is_seen else min(last + step, now)
            self._samples.unknown += now - known.end
            if is_seen and is_there:
                return
        self._samples.stretches.append(Stretch(now, now + step, *place))

    def _has_rested(self) -> bool:
        """Whether the thread has computed nothing since the last look."""
        before, self._computed = self._computed, self._processor_time()
        return before is not None and self._computed is not None and self._computed - before < _AT_REST

    def _processor_time(self) -> int | None:
        try:
            return None if self._clock is None else time.clock_gettime_ns(self._clock)
        except OSError:  # the thread has ended
            return None


def _own_clock() -> int | None:
    """The clock of the processor time of this thread; None where the platform has none."""
    try:
        return time.pthread_getcpuclockid(threading.get_ident())
    except (AttributeError, OSError):
        return None


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
