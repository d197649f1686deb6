"""Sets of time as sorted intervals that do not touch: union, intersection, complement, all of whole picoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.recording import Picoseconds

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """A set of time: sorted intervals [start, end) that neither overlap nor touch nor are empty."""

    start: Picoseconds
    end: Picoseconds

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        """The length of all of them together."""
        return int((self.end - self.start).sum())


class Pieces(NamedTuple):
    """Parts of given intervals: `owner` is the index of the interval that each is part of."""

    owner: Numbers
    start: Picoseconds
    end: Picoseconds


def whole(start: int, end: int) -> Intervals:
    """One interval; none where it is empty."""
    return union(np.array([start], np.int64), np.array([end], np.int64))


def union(start: Picoseconds, end: Picoseconds) -> Intervals:
    """The time that any of these intervals covers."""
    merged = union_by(np.zeros(len(start), np.int64), start, end)
    return Intervals(merged.start, merged.end)


def union_by(group: npt.NDArray[np.integer], start: Picoseconds, end: Picoseconds) -> Pieces:
    """The time that the intervals of each group cover; `owner` is the group."""
    kept = end > start
    if not kept.all():
        group, start, end = group[kept], start[kept], end[kept]
    if not len(start):
        return Pieces(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    order = sorted_by(group, start)
    owner = np.asarray(group[order], np.int64)
    start, end = start[order], end[order]
    reached = running_maximum(owner, end)
    first = np.ones(len(start), bool)
    first[1:] = (owner[1:] != owner[:-1]) | (start[1:] > reached[:-1])
    begins = np.flatnonzero(first)
    ends = np.append(begins[1:], len(start)) - 1
    return Pieces(owner[begins], start[begins], reached[ends])


def sorted_by(group: npt.NDArray[np.integer], start: Picoseconds) -> Numbers:
    """The order by group, then start; fast where one of them is in order already."""
    rises = (group[1:] > group[:-1]) | ((group[1:] == group[:-1]) & (start[1:] >= start[:-1]))
    if rises.all():
        return np.arange(len(start), dtype=np.int64)
    by_start = np.argsort(start, kind="stable")
    return by_start[np.argsort(group[by_start], kind="stable")]


def running_maximum(group: Numbers, values: Numbers) -> Numbers:
    """The largest value so far in each group; the rows of a group follow each other."""
    if not len(values) or group[0] == group[-1]:
        return np.maximum.accumulate(values) if len(values) else values
    number = np.zeros(len(group), np.int64)
    number[1:] = np.cumsum(group[1:] != group[:-1])
    low = int(np.min(values))
    width = int(np.max(values)) - low + 1
    if (int(number[-1]) + 1) * width < 2**62:
        return np.asarray(np.maximum.accumulate(values - low + number * width) - number * width + low)
    distinct, rank = np.unique(values, return_inverse=True)
    return distinct[np.maximum.accumulate(rank + number * len(distinct)) - number * len(distinct)]


def complement(taken: Intervals, start: int, end: int) -> Intervals:
    """The time from start to end that is not taken."""
    inside = clipped(taken, start, end)
    starts, ends = np.append(start, inside.end), np.append(inside.start, end)
    kept = ends > starts
    return Intervals(starts[kept].astype(np.int64), ends[kept].astype(np.int64))


def clipped(given: Intervals, start: int, end: int) -> Intervals:
    """The part of it from start to end."""
    starts, ends = np.maximum(given.start, start), np.minimum(given.end, end)
    kept = ends > starts
    return Intervals(starts[kept], ends[kept])


def intersection(one: Intervals, other: Intervals) -> Intervals:
    """The time that both cover."""
    parts = pieces(one.start, one.end, other)
    return Intervals(parts.start, parts.end)


def difference(one: Intervals, other: Intervals) -> Intervals:
    """The time that the first covers and the other does not."""
    if not len(one):
        return one
    return intersection(one, complement(other, int(one.start[0]), int(one.end[-1])))


def pieces(start: Picoseconds, end: Picoseconds, within: Intervals) -> Pieces:
    """The parts of each of these intervals that are within a set of time, in order of interval, then time."""
    low = np.searchsorted(within.end, start, "right")
    high = np.searchsorted(within.start, end, "left")
    count = np.maximum(high - low, 0)
    owner = np.repeat(np.arange(len(start)), count)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count) + low[owner]
    begins = np.maximum(start[owner], within.start[place])
    ends = np.minimum(end[owner], within.end[place])
    kept = ends > begins
    return Pieces(owner[kept], begins[kept], ends[kept])


def overlap(start: Picoseconds, end: Picoseconds, within: Intervals) -> Picoseconds:
    """How much of each of these intervals is within a set of time."""
    return _until(within, end) - _until(within, start)


def _until(within: Intervals, time: Picoseconds) -> Picoseconds:
    """How much of a set of time comes before each of these points."""
    if not len(within):
        return np.zeros(len(time), np.int64)
    before = np.cumsum(within.end - within.start) - (within.end - within.start)
    place = np.searchsorted(within.start, time, "right") - 1
    held = np.clip(time - within.start[place], 0, (within.end - within.start)[place])
    return np.where(place < 0, 0, before[place] + held)
