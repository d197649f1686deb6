"""Which call site of this program each call site of an executable is, where the executable was compiled from another.

JAX's persistent compilation cache takes two programs as equal that differ in their lines, files and names of functions
only. After a hit the executable names the call sites of the program that was compiled first; those of this one are in
its StableHLO. Both make the same operations in the same order, so the call sites below one call are matched in their
order, where each has to have the primitives of the one that it is matched with.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from jaxstage_ext.ir.sources.source import Location

_MOST_CALLS = 6
"""Calls of all operations, the innermost, that the others are matched below."""
_MOST_PAIRS = 100_000
"""Pairs of call sites below one call that are tried where their order does not match."""
OUTSIDE = -1
"""The caller of a call site that nothing in the program calls."""


@dataclass(frozen=True, eq=False)
class CallSites:
    """The call sites of a program; rows are given by number, and a caller stands before what it calls."""

    locations: Sequence[Location]
    """Of each."""
    callers: Sequence[int]
    """The row of each one's caller, OUTSIDE where there is none."""
    primitives: Sequence[frozenset[str]]
    """The primitives that have it as their innermost frame."""
    held: Sequence[frozenset[str]]
    """Those of them that are in functions that it calls, which JAX may have traced elsewhere."""
    _called: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row, caller in enumerate(self.callers):
            self._called.setdefault(caller, []).append(row)
        for rows in self._called.values():
            rows.sort(key=lambda row: (self.locations[row].line, self.locations[row].column))

    def called(self, row: int) -> list[int]:
        """The call sites that a call leads to, in the order of the lines."""
        return self._called.get(row, [])

    def below(self, row: int) -> Iterator[int]:
        """Everything that a call leads to."""
        left = list(self.called(row))
        while left:
            yield (row := left.pop())
            left += self.called(row)

    @functools.cached_property
    def all_primitives(self) -> frozenset[str]:
        """The primitives of all call sites."""
        return frozenset().union(*self.primitives)

    def primitives_by_start(self) -> dict[Start, frozenset[str]]:
        """The primitives at each place, whoever calls it."""
        result: dict[Start, frozenset[str]] = {}
        for location, primitives in zip(self.locations, self.primitives, strict=True):
            result[start(location)] = result.get(start(location), frozenset()) | primitives
        return result


Start = tuple[str, str, int, int]


def start(location: Location) -> Start:
    """Where an expression starts; XLA keeps one end for all that start alike."""
    return location.file, location.function, location.line, location.column


@dataclass(eq=False)
class CallSiteRows:
    """Call sites while they are collected; those that start alike below one call are one row."""

    locations: list[Location] = field(default_factory=list)
    callers: list[int] = field(default_factory=list)
    primitives: list[set[str]] = field(default_factory=list)
    held: list[set[str]] = field(default_factory=list)
    _row: dict[tuple[int, Start], int] = field(default_factory=dict)

    def add(self, location: Location, caller: int) -> int:
        """The row of a place that a call leads to; JAX writes the frame of a loop once more for each loop inside."""
        if caller >= 0 and start(self.locations[caller]) == start(location):
            return caller
        row = self._row.setdefault((caller, start(location)), len(self.locations))
        if row == len(self.locations):
            self.locations.append(location)
            self.callers.append(caller)
            self.primitives.append(set())
            self.held.append(set())
        return row

    def sites(self) -> CallSites:
        """The call sites so far."""
        return CallSites(self.locations, self.callers, [*map(frozenset, self.primitives)], [*map(frozenset, self.held)])


def are_own(sites: CallSites, true: CallSites) -> bool:
    """Whether an executable's call sites are those of this program, with the same primitives at each place."""
    here = true.primitives_by_start()
    for location, primitives in zip(sites.locations, sites.primitives, strict=True):
        known = here.get(start(location))
        if known is None or (known and not primitives & true.all_primitives <= known):
            return False
    return True


def aligned(stale: CallSites, true: CallSites) -> dict[int, int]:
    """The row in `true` of each row of `stale` that it is known for."""
    return _Alignment(stale, true).rows()


class _Alike(IntEnum):
    """What two call sites have in common beside their primitives and what they call."""

    COLUMN = 0
    FUNCTION = 1
    PRIMITIVES = 2


class _Alignment:
    def __init__(self, stale: CallSites, true: CallSites) -> None:
        self._stale, self._true = stale, true
        self._known: dict[tuple[int, int, _Alike], bool] = {}

    def rows(self) -> dict[int, int]:
        """The sure pairs, below those calls of all operations that most pairs are found below."""
        tops = [(top, bottom) for top in self._calls_of_all(self._stale) for bottom in self._calls_of_all(self._true)]
        return self._with_detached(max((self._below(*pair) for pair in tops), key=len))

    @staticmethod
    def _calls_of_all(sites: CallSites) -> list[int]:
        return _trunk(sites)[::-1][:_MOST_CALLS]

    def _with_detached(self, found: dict[int, int]) -> dict[int, int]:
        """With call sites that XLA keeps without their callers, where all that start alike are at one place here."""
        places: dict[Start, dict[Start, int]] = {}
        for old, new in found.items():
            places.setdefault(start(self._stale.locations[old]), {})[start(self._true.locations[new])] = new
        detached = [row for row in self._stale.called(OUTSIDE) if row not in found]
        below = [row for root in detached for row in self._stale.below(root) if row not in found]
        for row in [*detached, *below]:
            at = places.get(start(self._stale.locations[row]), {})
            if len(at) == 1:
                found[row] = next(iter(at.values()))
        return found

    def _below(self, stale: int, true: int) -> dict[int, int]:
        found: dict[int, int] = {}
        left = [(stale, true)]
        while left:
            below, here = left.pop()
            pairs = self._paired(below, here)
            found |= pairs
            left += [(old, new) for old, new in pairs.items() if new != here]
        return found

    def _paired(self, stale: int, true: int) -> dict[int, int]:
        """The sure pairs of what two calls lead to."""
        before, after = self._not_held(stale, true), self._true.called(true)
        left = [row for old in self._stale.called(stale) if old not in before for row in (old, *self._stale.below(old))]
        return dict.fromkeys(left, true) | self._in_order(before, after)

    def _in_order(self, before: list[int], after: list[int]) -> dict[int, int]:
        for alike in _Alike:
            if self._embedded(before, after, alike) is not None:
                return self._sure(before, after, alike)
        if len(before) * len(after) > _MOST_PAIRS:
            return {}
        known = [old for old in before if any(self._fits(old, new, _Alike.FUNCTION) for new in after)]
        return self._sure(known, after, _Alike.FUNCTION) or self._alone(known, after)

    def _not_held(self, stale: int, true: int) -> list[int]:
        """What a call leads to, without what is in functions that JAX traced elsewhere: their call stands for it."""
        called = self._stale.called(stale)
        after = self._true.called(true)
        if true < 0 or not self._true.held[true] or len(called) * len(after) > _MOST_PAIRS:
            return called
        return [
            old
            for old in called
            if not self._primitives_from(old) <= self._true.held[true]
            or any(self._fits(old, new, _Alike.PRIMITIVES) for new in after)
        ]

    def _sure(self, before: list[int], after: list[int], alike: _Alike) -> dict[int, int]:
        """The pairs on which the first and the last way to match all agree."""
        first = self._embedded(before, after, alike) or {}
        last = self._embedded(before[::-1], after[::-1], alike) or {}
        return {old: new for old, new in first.items() if last.get(old) == new}

    def _alone(self, before: list[int], after: list[int]) -> dict[int, int]:
        """Those that fit one only, in a function that has changed otherwise."""
        fits = {old: [new for new in after if self._fits(old, new, _Alike.FUNCTION)] for old in before}
        return {old: new[0] for old, new in fits.items() if len(new) == 1}

    def _embedded(self, before: list[int], after: list[int], alike: _Alike) -> dict[int, int] | None:
        """Each of `before` with the next of `after` that it fits; None where one has none."""
        result, rest = {}, iter(after)
        for old in before:
            new = next((new for new in rest if self._fits(old, new, alike)), None)
            if new is None:
                return None
            result[old] = new
        return result

    def _fits(self, old: int, new: int, alike: _Alike) -> bool:
        key = (old, new, alike)
        if key not in self._known:
            self._known[key] = self._is_alike(old, new, alike) and self._calls_alike(old, new, alike)
        return self._known[key]

    def _is_alike(self, old: int, new: int, alike: _Alike) -> bool:
        here, there = self._stale.locations[old], self._true.locations[new]
        if alike <= _Alike.FUNCTION and here.function != there.function:
            return False
        if alike == _Alike.COLUMN and here.column != there.column:
            return False
        return self._stale.primitives[old] & self._true.all_primitives <= self._true.primitives[new]

    def _calls_alike(self, old: int, new: int, alike: _Alike) -> bool:
        before, after = self._not_held(old, new), self._true.called(new)
        return any(self._embedded(before, after, other) is not None for other in _Alike if other >= alike)

    def _primitives_from(self, stale: int) -> frozenset[str]:
        """The primitives of a call site and of what it leads to, as far as this program has such."""
        rows = (stale, *self._stale.below(stale))
        return frozenset[str]().union(*(self._stale.primitives[row] for row in rows)) & self._true.all_primitives


def _trunk(sites: CallSites) -> list[int]:
    """The calls that all operations have in common, outermost first, beginning with OUTSIDE."""
    trunk = [OUTSIDE]
    while len(called := sites.called(trunk[-1])) == 1:
        trunk.append(called[0])
    return trunk
