"""Which event of a lane is inside which, and the time that each takes itself.

An event's parent is the last one before it in its lane that reaches as far as it does. Events that overlap without
nesting stay beside each other: neither takes time from the other, and they are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.intervals import Pieces, running_maximum
from jaxstage_ext.report.recording import NONE, Picoseconds

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Nesting:
    """The events of lanes, sorted by lane, then start, then longest first."""

    lane: npt.NDArray[np.int32]
    start: Picoseconds
    end: Picoseconds
    parent: Numbers
    """The event that each is inside, by its index here; NONE for the outermost of a lane."""

    @cached_property
    def depth(self) -> npt.NDArray[np.int32]:
        """How many events each is inside."""
        depth = np.zeros(len(self.parent), np.int32)
        above = self.parent.copy()
        inner = np.flatnonzero(above != NONE)
        while len(inner):
            depth[inner] += 1
            above[inner] = self.parent[above[inner]]
            inner = inner[above[inner] != NONE]
        return depth

    @cached_property
    def crosses(self) -> npt.NDArray[np.bool_]:
        """Which events start inside an earlier one with the same parent, and end after it."""
        order, _, before = self._siblings
        crosses = np.zeros(len(self.parent), bool)
        crosses[order] = before > self.start[order]
        return crosses

    @cached_property
    def parts(self) -> Pieces:
        """The time that each event takes itself: its own without that of the events inside it, as intervals."""
        order, key, before = self._siblings
        start, end, inner = self.start[order], self.end[order], key >= 0
        last = np.ones(len(order), bool)
        last[:-1] = key[1:] != key[:-1]
        first = np.roll(last, 1)
        own_end = self.end.copy()
        heads = first & inner
        own_end[key[heads]] = start[heads]
        reached = np.maximum(before, end)
        following = np.where(last, self.end[np.maximum(key, 0)], np.roll(start, -1))
        owner = np.concatenate([np.arange(len(self.parent)), key[inner]])
        starts = np.concatenate([self.start, reached[inner]])
        ends = np.concatenate([own_end, following[inner]])
        kept = ends > starts
        return Pieces(owner[kept], starts[kept], ends[kept])

    @cached_property
    def self_time(self) -> Picoseconds:
        """The time that each event takes itself."""
        taken = self.end - self.start
        order, key, before = self._siblings
        inner = np.flatnonzero(key >= 0)
        start, end = self.start[order[inner]], self.end[order[inner]]
        covered = np.maximum(end - np.maximum(start, before[inner]), 0)
        return taken - _sums(key[inner], covered, len(taken))

    @cached_property
    def _siblings(self) -> tuple[Numbers, Numbers, Picoseconds]:
        """The events by parent, then start; that parent, below 0 for the outermost of a lane; and when those before
        it under the same parent have ended.
        """
        key = np.where(self.parent == NONE, -1 - self.lane.astype(np.int64), self.parent)
        order = np.argsort(key, kind="stable")
        key = key[order]
        reached = running_maximum(key, self.end[order])
        before = np.empty_like(reached)
        before[1:], before[:1] = reached[:-1], np.iinfo(np.int64).min
        before[1:][key[1:] != key[:-1]] = np.iinfo(np.int64).min
        return order, key, before


def _sums(group: Numbers, values: Numbers, size: int) -> Numbers:
    """The sum of each group, whose rows follow each other; exact, unlike numpy.bincount with weights."""
    sums = np.zeros(size, np.int64)
    if len(group):
        begins = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        sums[group[begins]] = np.add.reduceat(values, begins)
    return sums


def nest(lane: npt.NDArray[np.int32], start: Picoseconds, end: Picoseconds) -> Nesting:
    """The nesting of events that are sorted by lane, then start, then longest first."""
    return Nesting(lane, start, end, _parents(lane, start, end))


def _parents(lane: npt.NDArray[np.int32], start: Picoseconds, end: Picoseconds) -> Numbers:
    """The last event before each in its lane that ends no earlier; an instant is inside what goes on after it."""
    size = len(start)
    parent = np.full(size, NONE, np.int64)
    if not size:
        return parent
    needed = np.maximum(end, start + 1)
    reached = running_maximum(lane.astype(np.int64), end)
    inner = 1 + np.flatnonzero((lane[1:] == lane[:-1]) & (reached[:-1] >= needed[1:]))
    nearest = _ahead_of_run(lane, start, end)
    while len(inner):
        at = nearest[inner]
        short = end[at] < needed[inner]
        parent[inner[~short]] = at[~short]
        inner = inner[short]
        nearest[inner] = nearest[at[short]]
    return parent


def _ahead_of_run(lane: npt.NDArray[np.int32], start: Picoseconds, end: Picoseconds) -> Numbers:
    """The event before the run that each belongs to, in which each starts once the one before it has ended."""
    breaks = np.ones(len(start), bool)
    breaks[1:] = (lane[1:] != lane[:-1]) | (start[1:] < end[:-1])
    return np.maximum.accumulate(np.where(breaks, np.arange(len(start)), 0)) - 1
