"""On which clock the profiles of several processes are put together: by collectives that all of them left at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.common_clock.exchanges import (
    CommonExchange,
    ProcessExchanges,
    common_exchanges,
    why_none,
)
from jaxstage_ext.report.clock_skew import ClockSkew, NoSkew
from jaxstage_ext.report.recording import NANOSECOND, SECOND, HostClocks, Recording

MOST_APART = 3600 * 10**9
"""Nanoseconds between the starts of the first and the last profile of a job; those further apart are of others."""
_FEW, _BEST = 4, 0.25
_SURE = 3
"""Uncertainties beyond which a difference is one."""
_ONE_CLOCK = SECOND // 1000
"""A clock that two processes share may seem to differ by this much, by when threads are scheduled."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class HostPlacement:
    """Where the profiles of several hosts or processes lie on the time axis that they share.

    Attributes:
      later: picoseconds to add to the times of each.   origin: Unix time in nanoseconds of time 0; None unknown.
      skews: of each process but the first; () where they are not known, and then `no_skew` says why.
    """

    clocks: HostClocks
    later: tuple[int, ...]
    origin: int | None = None
    skews: tuple[ClockSkew, ...] = ()
    no_skew: NoSkew | None = None


def apart(recordings: Sequence[Recording]) -> HostPlacement:
    """Each on its own clock."""
    return HostPlacement(HostClocks.OWN, (0,) * len(recordings))


def aligned(recordings: Sequence[Recording]) -> HostPlacement:
    """The profiles of the processes of one job: by their collectives, or else by the starts that they state.

    Processes of one machine keep its clock, unless their collectives refute that they share it.
    """
    by_starts = _by_starts(recordings)
    processes = [
        ProcessExchanges(recording, later=late) for recording, late in zip(recordings, by_starts.later, strict=True)
    ]
    is_one = by_starts.clocks is HostClocks.ONE_MACHINE
    common = common_exchanges(processes, is_one)
    if not common:
        return HostPlacement(by_starts.clocks, by_starts.later, by_starts.origin, no_skew=why_none(processes))
    by_order = any(one.is_by_order for one in common)
    skews = tuple(_skew(number, common, processes[0], by_order) for number in range(1, len(processes)))
    if is_one and (by_order or not any(map(_refutes, skews))):
        return HostPlacement(by_starts.clocks, by_starts.later, by_starts.origin, skews)
    return _by_collectives(by_starts, skews)


def _by_starts(recordings: Sequence[Recording]) -> HostPlacement:
    origins = [recording.origin for recording in recordings]
    known = [origin for origin in origins if origin is not None]
    if len(known) < len(origins) or max(known) - min(known) > MOST_APART:
        return apart(recordings)
    later = tuple((origin - min(known)) * NANOSECOND for origin in known)
    [machine, *others] = {recording.hosts[0] for recording in recordings}
    clocks = HostClocks.ONE_MACHINE if machine and not others else HostClocks.WALL
    return HostPlacement(clocks, later, min(known))


def _by_collectives(by_starts: HostPlacement, skews: tuple[ClockSkew, ...]) -> HostPlacement:
    later = [late - ahead for late, ahead in zip(by_starts.later, [0, *(one.ahead for one in skews)], strict=True)]
    first = min(later)
    origin = None if by_starts.origin is None else by_starts.origin + first // NANOSECOND
    return HostPlacement(HostClocks.COLLECTIVES, tuple(late - first for late in later), origin, skews)


def _refutes(skew: ClockSkew) -> bool:
    """Whether two processes cannot be on one clock."""
    return abs(skew.ahead) > max(_ONE_CLOCK, _SURE * skew.uncertainty)


def _skew(process: int, common: Sequence[CommonExchange], first: ProcessExchanges, by_order: bool) -> ClockSkew:
    begin, end = (_of(common, process, name) for name in ("begin", "end"))
    others_begin, others_end = (_of(common, 0, name) for name in ("begin", "end"))
    ends = end - others_end
    about = int(np.median(ends))
    taken = np.maximum(end - about, others_end) - np.maximum(begin - about, others_begin)
    lowest, highest = max((begin - others_end).tolist()), min((end - others_begin).tolist())
    ahead, uncertainty = _centre(ends, taken, lowest, highest)
    kinds = Counter(first.ops.kind(one.of[0].op) for one in common)
    named = tuple(kind for kind, _ in kinds.most_common())
    return ClockSkew(process, ahead, uncertainty, len(common), named, _drift(ends), by_order)


def _of(common: Sequence[CommonExchange], process: int, name: str) -> Numbers:
    return np.array([getattr(one.of[process], name) for one in common], np.int64)


def _centre(ends: Numbers, taken: Numbers, lowest: int, highest: int) -> tuple[int, int]:
    """How far a clock is ahead, and how uncertain that is, by the quarter of the collectives that took least.

    Nobody leaves a collective before the last one has begun it, which bounds the difference. When each one leaves in
    what it takes from then on is not known.
    """
    if len(ends) < _FEW and lowest <= highest:
        return (lowest + highest) // 2, (highest - lowest) // 2
    best = taken <= np.quantile(taken, _BEST)
    ahead = int(np.median(ends[best]))
    quarter, three_quarters = np.percentile(ends[best], [25, 75])
    if lowest <= highest:
        ahead = min(max(ahead, lowest), highest)
    return ahead, max(int(three_quarters - quarter) // 2, int(np.median(taken[best])))


def _drift(ends: Numbers) -> int:
    """How much the difference grows from the first quarter of the collectives to the last."""
    part = len(ends) // 4
    if part < _FEW:
        return 0
    grown = int(np.median(ends[-part:]) - np.median(ends[:part]))
    spread = max(int(np.ptp(np.percentile(one, [25, 75]))) // 2 for one in (ends[:part], ends[-part:]))
    return grown if abs(grown) > _SURE * max(spread, 1) else 0
