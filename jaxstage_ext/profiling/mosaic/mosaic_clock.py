"""When the records of a buffer were made: 32-bit counters that wrap, turned into whole picoseconds or cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaxstage_ext.profiling.mosaic.mosaic_buffer import Flags, MosaicRecords, Whole
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.report.recording import NANOSECOND, SECOND

WRAP = 1 << 32
BACKWARDS = 1 << 20
"""Cycles: a step that comes within this much of a whole turn of the counter is a step back."""
MOST_OVERHEAD = 11
"""Cycles that recording one record takes at most; JAX's figure for an H100."""


@dataclass(frozen=True, eq=False)
class MosaicTimes:
    """When each record was made."""

    start: Whole
    """Of each trace, when its first record was made: picoseconds after the earliest trace of the buffer, or, where the
    clock is unknown, cycles after the earliest trace of its SM."""
    since: Whole
    """Of each record, cycles since the first of its trace, without what recording took."""
    backwards: Whole
    """Of each trace, how often its clock went backwards; its records keep their order."""
    overhead: int
    """Cycles that were subtracted for each earlier record of a trace."""
    timer: int
    """The global timer at time 0, in nanoseconds, its low 32 bits."""


def times_of(records: MosaicRecords, spec: MosaicSpec, sm_clock: float | None, overhead: int | None) -> MosaicTimes:
    """The times of a buffer's records. See `MosaicTimes`; `overhead` None estimates it."""
    step = np.diff(records.clock, prepend=records.clock[:1]) % WRAP
    step = np.where(step >= WRAP - BACKWARDS, step - WRAP, step)
    inner = np.ones(len(step), bool)
    inner[records.first[:-1][records.counts > 0]] = False
    step = np.where(inner, step, 0)
    cost = _estimated(step[inner]) if overhead is None else overhead
    timer, start = _starts(records, spec, sm_clock)
    return MosaicTimes(
        start=start,
        since=_summed(np.where(inner, step - cost, 0), inner, records),
        backwards=np.bincount(records.trace[step < 0], minlength=len(records.counts)),
        overhead=cost,
        timer=timer,
    )


def picoseconds(cycles: Whole, sm_clock: float) -> Whole:
    """Cycles of a clock in hertz as whole picoseconds, exact to half of one for any count of cycles."""
    hertz = max(1, round(sm_clock))
    whole, rest = np.divmod(cycles, hertz)
    return np.asarray(whole * SECOND + np.rint(rest * (SECOND / hertz)).astype(np.int64))


def unwrapped_timer(timer: Whole, of: Flags) -> tuple[int, Whole]:
    """The low words of a timer in nanoseconds, as nanoseconds after the earliest of `of`, and that one.

    The earliest is the one after the longest time in which none falls, on a circle of 4.29 s: right if the traces start
    within half of that, and for longer kernels if they do so without a gap as long.
    """
    ordered = np.unique(timer[of])
    if not len(ordered):
        return 0, np.zeros_like(timer)
    gaps = np.diff(ordered, append=ordered[0] + WRAP)
    earliest = int(ordered[(int(np.argmax(gaps)) + 1) % len(ordered)])
    return earliest, (timer - earliest) % WRAP


def _estimated(steps: Whole) -> int:
    """What one record takes: recording twice takes at least that long, so one cycle less than the shortest step."""
    return int(np.clip(np.min(steps[steps >= 0], initial=MOST_OVERHEAD + 1) - 1, 0, MOST_OVERHEAD))


def _summed(step: Whole, inner: Flags, records: MosaicRecords) -> Whole:
    """The running sum of each trace, which rises by one cycle at least."""
    total = np.cumsum(step)
    total -= (
        np.repeat(total[np.minimum(records.first[:-1], max(len(total) - 1, 0))], records.counts) if len(total) else 0
    )
    for trace in np.unique(records.trace[inner & (step < 1)]):
        rows = slice(records.first[trace], records.first[trace + 1])
        least = np.arange(records.counts[trace])
        total[rows] = np.maximum.accumulate(total[rows] - least) + least
    return np.asarray(total)


def _starts(records: MosaicRecords, spec: MosaicSpec, sm_clock: float | None) -> tuple[int, Whole]:
    """When each trace made its first record, and the timer at time 0.

    The global timer says when a trace began, but not how long before its first record. The cycle counter belongs to the
    SM, and so to all traces of a block: the trace of a block that records first is placed where the timer says, and the
    others by the counter, so that they stand to each other as they ran.
    """
    filled = records.counts > 0
    timer, after = unwrapped_timer(records.timer, filled)
    anchor, cycles = _anchors(records, spec, filled)
    if sm_clock is not None:
        return timer, np.where(filled, after[anchor] * NANOSECOND + picoseconds(cycles, sm_clock), 0)
    return timer, np.where(filled, cycles + _cycles_on_one_sm(records, after, filled)[anchor], 0)


def _first_clock(records: MosaicRecords, filled: Flags) -> Whole:
    clock = np.zeros(len(filled), np.int64)
    clock[filled] = records.clock[records.first[:-1][filled]]
    return clock


def _anchors(records: MosaicRecords, spec: MosaicSpec, filled: Flags) -> tuple[Whole, Whole]:
    """Of each trace, the trace of its block that records first, and how many cycles it is behind that one.

    A trace that says that it ran on another SM than its block is its own.
    """
    shape = (spec.blocks, spec.traces_per_block)
    rows, clock = np.arange(len(filled)), _first_clock(records, filled)
    first_filled = rows.reshape(shape)[np.arange(spec.blocks), np.argmax(filled.reshape(shape), axis=1)]
    first_filled = np.repeat(first_filled, spec.traces_per_block)
    ahead = (clock - clock[first_filled] + WRAP // 2) % WRAP - WRAP // 2
    shared = filled & (records.sm == records.sm[first_filled])
    considered = np.where(shared, ahead, WRAP).reshape(shape)
    earliest = np.argmin(considered, axis=1)
    anchor = np.repeat(rows.reshape(shape)[np.arange(spec.blocks), earliest], spec.traces_per_block)
    behind = ahead - np.repeat(considered.min(axis=1), spec.traces_per_block)
    return np.where(shared, anchor, rows), np.where(shared, behind, 0)


def _cycles_on_one_sm(records: MosaicRecords, after: Whole, filled: Flags) -> Whole:
    """Of each trace, the cycles by which its first record is behind the earliest of its SM."""
    clock = _first_clock(records, filled)
    order = np.lexsort((after, records.sm, ~filled))
    new = np.diff(records.sm[order], prepend=-1) != 0
    step = (np.diff(clock[order], prepend=0) + WRAP // 2) % WRAP - WRAP // 2
    total = np.cumsum(np.where(new, 0, step))
    group = np.cumsum(new) - 1
    earliest = np.minimum.reduceat(total, np.flatnonzero(new)) if len(total) else total
    behind = np.zeros_like(clock)
    behind[order] = total - earliest[group]
    return behind
