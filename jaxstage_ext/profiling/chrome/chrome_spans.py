"""The spans of a Chrome trace: complete events, begins matched with their ends, and instants."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.chrome.chrome_columns import Longs, RawEvents
from jaxstage_ext.profiling.chrome.decimal_times import PICOSECONDS, Times
from jaxstage_ext.report.recording import Loss

WINDOW = 2**61 // PICOSECONDS
"""Microseconds from the median start beyond which a start is not a time of this recording: 26 days."""
_COMPLETE, _BEGIN, _END, _INSTANT, _ASYNC_BEGIN, _ASYNC_END, _ASYNC_INSTANT, _UNKNOWN = range(1, 9)
_PHASES = {
    "X": _COMPLETE,
    "B": _BEGIN,
    "E": _END,
    **dict.fromkeys("iIRP", _INSTANT),
    **dict.fromkeys("bS", _ASYNC_BEGIN),
    **dict.fromkeys("eF", _ASYNC_END),
    **dict.fromkeys("nTp", _ASYNC_INSTANT),
    **dict.fromkeys("MCstfNODvVc(),", 0),
}
"""0: metadata, counters, flows, objects, memory dumps, clocks and contexts are not events of a lane."""


@dataclass(frozen=True)
class ClockBase:
    """Time 0 of a recording in the clock of its file: whole microseconds, and picoseconds beyond them."""

    whole: int
    part: int

    def since(self, times: Times, rows: Longs) -> Longs:
        """Picoseconds since the base."""
        return (times.whole[rows] - self.whole) * PICOSECONDS + times.part[rows] - self.part


@dataclass(frozen=True)
class Spans:
    """Events with a beginning and a duration, in picoseconds since the base."""

    row: Longs
    """Into the raw events; of the begin where there are two."""
    start: Longs
    duration: Longs
    is_async: npt.NDArray[np.bool_]
    """Which may overlap in one thread."""
    base: ClockBase
    lost: dict[Loss, int]
    """How many events are missing or uncertain."""
    left_out: int
    """How many of these are not in the columns."""


def spans_of(raw: RawEvents) -> Spans:
    """The events of a trace; what is not a number, or far from all others, is left out and counted."""
    phase = np.array([_PHASES.get(key[0], _UNKNOWN) for key in raw.keys], np.int64)[raw.key]
    phase[raw.empty] = 0
    base, inside = _base(raw.start, phase > 0)
    base = ClockBase(0, 0) if raw.is_own else base
    fits = raw.duration.known & (np.abs(raw.duration.whole) < WINDOW)
    complete = np.flatnonzero(inside & (phase == _COMPLETE) & fits)
    instants = np.flatnonzero(inside & np.isin(phase, (_INSTANT, _ASYNC_INSTANT)))
    matched = _Matched(raw, np.where(inside, phase, 0), base)
    row = np.concatenate([complete, instants, matched.begin])
    length = raw.duration.whole[complete] * PICOSECONDS + raw.duration.part[complete]
    duration = np.concatenate([length, np.zeros(len(instants), np.int64), matched.duration])
    readable = inside & (phase != _UNKNOWN) & ((phase != _COMPLETE) | fits)
    unreadable = int(((phase > 0) & ~readable).sum())
    lost = {
        Loss.UNREADABLE: unreadable,
        Loss.NEGATIVE: int((duration < 0).sum()),
        Loss.UNMATCHED: matched.open + matched.orphans,
    }
    is_async = phase[row] >= _ASYNC_BEGIN
    return Spans(
        row, base.since(raw.start, row), np.maximum(duration, 0), is_async, base, lost, unreadable + matched.orphans
    )


def _base(start: Times, wanted: npt.NDArray[np.bool_]) -> tuple[ClockBase, npt.NDArray[np.bool_]]:
    """The smallest start, and which starts are within the window around the median."""
    known = wanted & start.known
    if not known.any():
        return ClockBase(0, 0), known
    rows = np.flatnonzero(known)
    median = int(np.partition(start.whole[rows], len(rows) // 2)[len(rows) // 2])
    known[rows] = np.abs(start.whole[rows] - median) < WINDOW
    rows = np.flatnonzero(known)
    whole = start.whole[rows]
    smallest = np.min(whole)
    return ClockBase(int(smallest), int(np.min(start.part[rows[whole == smallest]]))), known


class _Matched:
    """Begins with their ends, by thread, or by id where they are asynchronous."""

    def __init__(self, raw: RawEvents, phase: Longs, base: ClockBase) -> None:
        self.orphans = self.open = 0
        begins: list[int] = []
        ends: list[int] = []
        last = _last_times(raw, phase, base)
        for opening, closing, group in (
            (_BEGIN, _END, raw.thread[raw.key]),
            (_ASYNC_BEGIN, _ASYNC_END, raw.flow),
        ):
            rows = np.flatnonzero((phase == opening) | (phase == closing))
            time = base.since(raw.start, rows)
            order = np.argsort(time, kind="stable")
            stacks: dict[int, list[tuple[int, int]]] = defaultdict(list)
            is_begin = phase[rows] == opening
            columns = (rows[order], time[order], is_begin[order], group[rows][order])
            for row, at, opens, key in zip(*(column.tolist() for column in columns), strict=True):
                if opens:
                    stacks[key].append((row, at))
                elif stack := stacks[key]:
                    begin, since = stack.pop()
                    begins.append(begin)
                    ends.append(at - since)
                else:
                    self.orphans += 1
            for row, since in (pair for stack in stacks.values() for pair in stack):
                self.open += 1
                begins.append(row)
                ends.append(max(0, last[raw.thread[raw.key[row]]] - since))
        self.begin, self.duration = np.array(begins, np.int64), np.array(ends, np.int64)


def _last_times(raw: RawEvents, phase: Longs, base: ClockBase) -> dict[int, int]:
    """The latest time that each thread has, for begins without an end."""
    rows = np.flatnonzero(phase > 0)
    time = base.since(raw.start, rows)
    duration = raw.duration.whole[rows]
    fits = raw.duration.known[rows] & (np.abs(duration) < WINDOW) & (phase[rows] == _COMPLETE)
    time = time + np.where(fits, duration * PICOSECONDS + raw.duration.part[rows], 0)
    last: dict[int, int] = defaultdict(int)
    threads = raw.thread[raw.key[rows]]
    latest = np.full(len(raw.thread), -1, np.int64)
    np.maximum.at(latest, threads, time)
    last.update(enumerate(latest.tolist()))
    return last
