"""The places of this program for an executable that was compiled from an earlier one.

JAX's persistent compilation cache takes two programs as equal that differ in their lines and files only. After a hit
the executable names the places of the program that was compiled first; those of this one are in its StableHLO.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from jaxstage_ext.ir.source import Location

Moved: TypeAlias = Mapping[Location, Location]
_Start: TypeAlias = tuple[str, int, int]
"""Function, line and column where an expression starts."""


def moved(stale: Collection[Location], true: Collection[Location]) -> Moved:
    """The place in this program of each place that it is known for; empty where all places are this program's own."""
    own = {(location.file, _start(location)) for location in true}
    if all((location.file, _start(location)) in own for location in stale):
        return {}
    result = {**_matched(stale, true, lambda location: location.file)}
    left = [location for location in stale if location not in result]
    return {**result, **_matched(left, true, lambda location: location.function)}


def _start(location: Location) -> _Start:
    return location.function, location.line, location.column


def _matched(
    stale: Collection[Location], true: Collection[Location], part: Callable[[Location], str]
) -> dict[Location, Location]:
    """The places of each part, such as a file, in the only part of this program where they fit."""
    result: dict[Location, Location] = {}
    candidates = _by(true, part)
    for name, here in _by(stale, part).items():
        named = [candidates[name]] if name in candidates else []
        for those in (named, list(candidates.values())):
            fits = [fit for group in those if (fit := _fit(here, group))]
            if len(fits) == 1:
                result |= fits[0]
                break
    return result


def _by(locations: Collection[Location], part: Callable[[Location], str]) -> dict[str, list[Location]]:
    parts: dict[str, list[Location]] = {}
    for location in locations:
        parts.setdefault(part(location), []).append(location)
    return parts


def _fit(stale: list[Location], true: list[Location]) -> dict[Location, Location]:
    """Where all places moved by one number of lines, or kept their order; empty where neither is known."""
    return _shifted(stale, true) or _aligned(stale, true)


def _shifted(stale: list[Location], true: list[Location]) -> dict[Location, Location]:
    at = {_start(location): location for location in true}
    top = min(location.line for location in stale)
    found = {}
    for shift in {location.line - top for location in true}:
        there = [at.get((old.function, old.line + shift, old.column)) for old in stale]
        if None not in there:
            found[shift] = {old: new for old, new in zip(stale, there, strict=True) if new is not None}
    if 0 in found and stale[0].file == true[0].file:
        return found[0]
    return next(iter(found.values())) if len(found) == 1 else {}


def _aligned(stale: list[Location], true: list[Location]) -> dict[Location, Location]:
    """Matched in order by function and column, where the first and the last way to do it agree."""
    before, after = _starts(stale), _starts(true)
    first = _embedded(before, after)
    last = _embedded(before[::-1], after[::-1])
    sure = {_start(old): new for old, new in first.items() if last.get(old) == new}
    return {old: sure[_start(old)] for old in stale if _start(old) in sure}


def _starts(locations: list[Location]) -> list[Location]:
    """In the order of the file; of expressions that start alike one."""
    return sorted({_start(location): location for location in locations}.values(), key=_by_place)


def _embedded(before: list[Location], after: list[Location]) -> dict[Location, Location]:
    result: dict[Location, Location] = {}
    rest = iter(after)
    for location in before:
        match = next((other for other in rest if _alike(location, other)), None)
        if match is None:
            return {}
        result[location] = match
    return result


def _alike(location: Location, other: Location) -> bool:
    return (location.function, location.column) == (other.function, other.column)


def _by_place(location: Location) -> tuple[int, int]:
    return location.line, location.column
