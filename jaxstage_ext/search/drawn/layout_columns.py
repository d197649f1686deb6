"""The layouts of a search as columns: what the map, the list beside it and the still forms draw."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.search import layout_choice
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import CompiledState, LayoutsFound, ScoredLayout

Floats = npt.NDArray[np.float32]


class PointState(enum.IntEnum):
    """What is known of whether a layout runs."""

    ESTIMATE = 0
    FITS = 1
    DOES_NOT_FIT = 2
    FAILED = 3
    COMPILED = 4
    """Compiled; whether it fits is not known."""


@dataclass(frozen=True)
class LayoutColumns:
    """Layouts as columns of one length, the fastest first; NaN is unknown.

    Attributes:
      layouts: the rows.
      time: seconds of one call, half way between least and most; where those are unknown, times the least cost.
      least, most: the bounds of the seconds.
      arguments: bytes of all arguments on one device, exact.
      needed: bytes that XLA allocates on one device, of what was compiled.
      state: `PointState`.
      front: whether no other layout is both faster and smaller.
      has_seconds: whether `time` is in seconds.
    """

    layouts: tuple[ScoredLayout, ...]
    time: Floats
    least: Floats
    most: Floats
    arguments: Floats
    needed: Floats
    state: npt.NDArray[np.uint8]
    front: npt.NDArray[np.uint8]
    has_seconds: bool

    @property
    def own(self) -> int | None:
        """The row of the user's own layout."""
        return next((row for row, layout in enumerate(self.layouts) if layout.is_own), None)

    def bests(self) -> list[int]:
        """The first row of each kind, the fastest kind first; one that is known not to run gives way to the next."""
        first: dict[LayoutKind, int] = {}
        for row, layout in enumerate(self.layouts):
            held = first.get(layout.kind)
            if held is None or (not runs(self.layouts[held]) and runs(layout)):
                first[layout.kind] = row
        return sorted(first.values())


def columns_of(found: LayoutsFound, most: int) -> LayoutColumns:
    """At most so many layouts: the fastest, and of the others the front, the own one and those that were compiled."""
    layouts = _chosen(found.layouts, most)
    has_seconds = any(layout.estimate.middle is not None for layout in layouts)
    cheapest = min((layout.estimate.cost for layout in layouts), default=1.0) or 1.0
    return LayoutColumns(
        layouts,
        _floats([layout.estimate.middle if has_seconds else layout.estimate.cost / cheapest for layout in layouts]),
        _floats([layout.estimate.least for layout in layouts]),
        _floats([layout.estimate.most for layout in layouts]),
        _floats([layout.estimate.argument_bytes for layout in layouts]),
        _floats([layout.compiled.needed if layout.compiled else None for layout in layouts]),
        np.array([state_of(layout) for layout in layouts], np.uint8),
        np.array([layout.on_front for layout in layouts], np.uint8),
        has_seconds,
    )


def _chosen(layouts: Sequence[ScoredLayout], most: int) -> tuple[ScoredLayout, ...]:
    if len(layouts) <= most:
        return tuple(layouts)
    kinds: set[LayoutKind] = set()
    wanted = []
    for layout in layouts:
        if layout.is_own or layout.on_front or layout.compiled or layout.kind not in kinds:
            wanted.append(layout.number)
        kinds.add(layout.kind)
    kept = set(wanted[:most])
    others = (layout.number for layout in layouts if layout.number not in kept)
    kept |= set(itertools.islice(others, most - len(kept)))
    return tuple(layout for layout in layouts if layout.number in kept)


def _floats(values: Sequence[Any]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float32)


def state_of(layout: ScoredLayout) -> PointState:
    """What a compile said of a layout."""
    compiled = layout.compiled
    if compiled is None:
        return PointState.ESTIMATE
    if compiled.state is CompiledState.FAILED:
        return PointState.FAILED
    if compiled.state is CompiledState.DOES_NOT_FIT or compiled.fits is False:
        return PointState.DOES_NOT_FIT
    return PointState.FITS if compiled.fits else PointState.COMPILED


def runs(layout: ScoredLayout) -> bool:
    """Whether nothing says that a layout does not run."""
    return state_of(layout) not in (PointState.DOES_NOT_FIT, PointState.FAILED)


def best_of(found: LayoutsFound, room: int | None) -> ScoredLayout | None:
    """What to take, as `layout_choice` has it; None where nothing was found that may run."""
    if not found.layouts:
        return None
    best = layout_choice.best(found.layouts, room)
    return best if runs(best) and not layout_choice.is_known_too_large(best, room) else None
