"""Figures of memory beside XLA's own, with the cause where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from jaxstage_ext.analysis.memory.spaces import Space

CLOSE = 0.01
"""Figures that differ by less than this share agree."""


class CheckedFigure(Enum):
    """What is compared."""

    RESERVED = "reserved"
    PEAK = "peak"


class CheckDifference(Enum):
    """Why a figure differs from XLA's."""

    NONE = "they agree"
    UNEXPLAINED = "unexplained"
    NO_TEMPORARIES = "XLA's CPU figure leaves out temporaries"
    OTHER_MEMORY = "XLA adds the temporaries of another memory"
    HELD_ELSEWHERE = "XLA adds what another memory holds"
    EMBEDDED = "XLA leaves out constants inside fusions"
    UNTRACED = "XLA leaves out temporaries that it does not trace"


class Check(NamedTuple):
    """One figure in bytes, and XLA's; `other` and `own` name the memories that XLA adds up."""

    figure: CheckedFigure
    ours: int
    xla: int | None
    difference: CheckDifference = CheckDifference.NONE
    other: str = ""
    own: str = ""


def read(
    spaces: Sequence[Space], stats: Mapping[str, int], platform: str, simulated: int, embedded: int = 0
) -> list[Check]:
    """The figures of the device's own memory against `stats` of XLA's executable; none without them.

    `simulated` is the largest peak of one heap simulation, as XLA adds it up, `embedded` the bytes of constants inside
    fusions.
    """
    if not stats:
        return []
    checks = [_reserved(spaces[0], stats, platform), _peak(spaces, stats, platform, simulated)]
    return [_without(check, embedded) for check in checks] if embedded else checks


def _without(check: Check, embedded: int) -> Check:
    """The check, where constants inside fusions are the whole difference."""
    explains = check.difference is CheckDifference.UNEXPLAINED and _close(check.ours - embedded, check.xla)
    return check._replace(difference=CheckDifference.EMBEDDED) if explains else check


def _reserved(space: Space, stats: Mapping[str, int], platform: str) -> Check:
    ours = space.reserved + (space.local if platform == "tpu" else 0)
    xla = stats.get("total_allocation_bytes")
    if xla is None and platform == "cpu":
        xla = stats.get("peak_memory_in_bytes", 0) + stats.get("temp_size_in_bytes", 0)
    return Check(
        CheckedFigure.RESERVED, ours, xla, CheckDifference.NONE if _close(ours, xla) else CheckDifference.UNEXPLAINED
    )


def _peak(spaces: Sequence[Space], stats: Mapping[str, int], platform: str, simulated: int) -> Check:
    """XLA's peak adds what all memories hold throughout to the largest of its simulations."""
    own, xla = spaces[0], stats.get("peak_memory_in_bytes")
    if _close(own.peak, xla):
        return Check(CheckedFigure.PEAK, own.peak, xla)
    held = sum(space.held for space in spaces)
    if platform == "cpu" and (xla or 0) == held:
        return Check(CheckedFigure.PEAK, own.peak, xla, CheckDifference.NO_TEMPORARIES)
    if (xla or 0) != held + simulated:
        return Check(CheckedFigure.PEAK, own.peak, xla, CheckDifference.UNEXPLAINED)
    others = [space for space in spaces if space.peak - space.held > own.peak - own.held]
    if others:
        return Check(CheckedFigure.PEAK, own.peak, xla, CheckDifference.OTHER_MEMORY, others[0].name, own.name)
    if (elsewhere := [space for space in spaces[1:] if space.held]) and _close(own.peak + held - own.held, xla):
        names = " and ".join(space.name for space in elsewhere)
        return Check(CheckedFigure.PEAK, own.peak, xla, CheckDifference.HELD_ELSEWHERE, names, own.name)
    return Check(CheckedFigure.PEAK, own.peak, xla, CheckDifference.UNTRACED)


def _close(ours: int, xla: int | None) -> bool:
    return xla is None or abs(ours - xla) <= CLOSE * max(xla, 1)
