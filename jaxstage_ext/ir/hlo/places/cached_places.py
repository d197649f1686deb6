"""The frames of an executable that JAX's persistent cache may have taken from an earlier program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.places import lowered_sites, moved_places
from jaxstage_ext.ir.hlo.places.moved_places import OUTSIDE, CallSiteRows
from jaxstage_ext.ir.sources.borrowed_frames import primitive
from jaxstage_ext.ir.sources.source import FrameTable, Location, is_outside
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Ints


@dataclass(frozen=True)
class CachedPlaces:
    """The places of an executable that was compiled from an earlier program."""

    frame: dict[int, int] | None
    """This program's frame of each of XLA's frame numbers that it is known for; None where the numbers are this
    program's own."""
    known: int
    unknown: int
    """`known`, `unknown`: how many instructions have a place that is known, and that is not."""
    scope: Mapping[tuple[int, str], str] = field(default_factory=dict)
    """This program's name scope by frame number and the one that XLA has, where they differ; "" is unknown."""
    lost: frozenset[int] = frozenset()
    """The frame numbers with a place that is not known, which is no neighbour's either."""

    def frames(self, numbers: Longs) -> Ints:
        """The frame of each of these frame numbers, -1 where it is unknown or where there is none."""
        return np.array([(self.frame or {}).get(number, -1) for number in numbers.tolist()], np.int32)

    def scoped(self, module: Module) -> tuple[Ints, tuple[str, ...]]:
        """(the scope of each instruction, the names of the scopes), this program's own."""
        names = {name: number for number, name in enumerate(module.scopes)}
        scope = module.scope.copy()
        for (number, old), new in self.scope.items():
            rows = (module.stack_frame == number) & (module.scope == names[old])
            scope[rows] = names.setdefault(new, len(names)) if new else -1
        return scope, tuple(names)


NO_PLACES = CachedPlaces({}, 0, 0)
"""Of a module that was compiled from an earlier program, nothing of which is known."""


def cached_places(module: Module, lowered: Document, table: FrameTable) -> CachedPlaces | None:
    """The places of a module that was compiled from an earlier program than `lowered`; None where they are its own.

    `table` has the frames of `lowered`, and gets those of the functions that it calls at several places.
    """
    stale, sites = CallSiteRows(), CallSiteRows()
    rows = _add_module(stale, module)
    read = lowered_sites.add(sites, lowered, table)
    before, true = stale.sites(), sites.sites()
    pairs = moved_places.aligned(before, true)
    scope = _renamed(module, rows, pairs, read.scopes)
    if moved_places.are_own(before, true):
        return CachedPlaces(None, 0, 0, scope) if scope else None
    frame = {number: read.frame[pairs[row]] for number, row in rows.items() if pairs.get(row) in read.frame}
    placed = np.isin(module.stack_frame, list(rows))
    known = np.isin(module.stack_frame, list(frame))
    lost = frozenset(rows.keys() - frame.keys())
    return CachedPlaces(frame, int(known.sum()), int((placed & ~known).sum()), scope, lost)


def _renamed(
    module: Module, rows: dict[int, int], pairs: dict[int, int], scopes: dict[int, set[str]]
) -> dict[tuple[int, str], str]:
    """The name in this program of each scope that it calls otherwise at that place; "" where it is unknown."""
    parts = {part for names in scopes.values() for name in names for part in name.split("/")}
    renamed: dict[tuple[int, str], str] = {}
    for number, which in _numbers_and_scopes(module):
        if which < 0:
            continue
        old = module.scopes[which]
        here = scopes.get(pairs.get(rows.get(number, OUTSIDE), OUTSIDE), set())
        alike = {name for name in here if primitive(name) == primitive(old) and name.count("/") == old.count("/")}
        if old in alike or (not alike and parts.issuperset(old.split("/")[:-1])):
            continue
        renamed[number, old] = next(iter(alike)) if len(alike) == 1 else ""
    return renamed


def _numbers_and_scopes(module: Module) -> list[list[int]]:
    """The pairs of frame number and scope that instructions have."""
    pairs: list[list[int]] = np.unique(np.stack([module.stack_frame, module.scope.astype(np.int64)]), axis=1).T.tolist()
    return pairs


def unknown_places(module: Module) -> CachedPlaces:
    """The places of a module that was compiled from an earlier program, of which none is known."""
    return CachedPlaces({}, 0, int(np.count_nonzero(module.stack_frame)))


def location_of(index: Any, number: int) -> Location | None:
    """The place of one of XLA's frame numbers; None outside the user's program."""
    place = index.file_locations[index.stack_frames[number - 1].file_location_id - 1]
    file = index.file_names[place.file_name_id - 1]
    if is_outside(file):
        return None
    return Location(
        file,
        index.function_names[place.function_name_id - 1] if place.function_name_id else "",
        place.line,
        place.column + 1,
        max(place.end_line, place.line),
        place.end_column + 1 if place.end_column else 0,
    )


def _add_module(sites: CallSiteRows, module: Module) -> dict[int, int]:
    """The row of each frame number that an instruction has."""
    index, rows = module.header.stack_frame_index, dict[int, int]()
    for number, scope in _numbers_and_scopes(module):
        if number not in rows:
            row = OUTSIDE
            for location in reversed([*_stack(index, number)]):
                row = sites.add(location, row)
            if row == OUTSIDE:
                continue
            rows[number] = row
        if scope >= 0:
            sites.primitives[rows[number]].add(primitive(module.scopes[scope]))
    return rows


def _stack(index: Any, number: int) -> Iterator[Location]:
    for _ in range(len(index.stack_frames)):
        if not 0 < number <= len(index.stack_frames) or (location := location_of(index, number)) is None:
            return
        yield location
        number = index.stack_frames[number - 1].parent_frame_id
