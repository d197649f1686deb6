"""Whether XLA exchanges in a compiled layout what was estimated, by kind of collective and bytes.

The estimate's collectives are Shardy's explicit reshards. XLA's own partitioner decides later, and may gather weights
where activations were to move; XLA's passes then merge, split and replace collectives. At low
effort nothing makes a reduce-scatter of an all-reduce of which each device keeps a part: there the two are one kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search.layout_result import (
    CollectiveShare,
    CompiledFigures,
    CompileEffort,
    ExchangeDifference,
    ExchangeMatch,
    LayoutEstimate,
)

_LEAST_SHARE = 0.25
"""Of all that is exchanged, below which a difference is none."""
_LEAST_TIME = 0.02
"""Of a call's time the part that collectives take, below which their kinds do not matter."""


def with_match(figures: CompiledFigures, estimate: LayoutEstimate) -> CompiledFigures:
    """Compiled figures that say whether their collectives are those of an estimate; as they are where it is unknown."""
    if figures.parts is None:
        return figures
    sides = figures.parts, estimate.parts
    if figures.effort is CompileEffort.LOW:
        sides = _unscattered(sides[0]), _unscattered(sides[1])
    difference = _difference(*sides, estimate.exchanged_bytes)
    if difference is None or not _matters(figures, estimate):
        return replace(figures, match=ExchangeMatch.AS_ESTIMATED)
    return replace(figures, match=ExchangeMatch.OTHERWISE, difference=difference)


def _matters(figures: CompiledFigures, estimate: LayoutEstimate) -> bool:
    """Whether collectives take a part of the time that is worth a word; so they do where times are unknown."""
    if figures.least is None or estimate.middle is None or estimate.collectives is None:
        return True
    compiled = sum(share.seconds or 0.0 for share in figures.parts or ())
    return max(compiled / (figures.least or 1.0), estimate.collectives / (estimate.middle or 1.0)) >= _LEAST_TIME


def _unscattered(shares: Sequence[CollectiveShare]) -> tuple[CollectiveShare, ...]:
    return tuple(
        replace(share, kind=CollectiveKind.ALL_REDUCE) if share.kind is CollectiveKind.REDUCE_SCATTER else share
        for share in shares
    )


def _difference(
    compiled: Sequence[CollectiveShare], estimated: Sequence[CollectiveShare], exchanged: int
) -> ExchangeDifference | None:
    """The kinds of which there is most too much and most too little; None where both are small. Of kinds of which there
    is about as much too much, one that exchanges an argument, which has a name.
    """
    here, there = _by_kind(compiled), _by_kind(estimated)
    unlisted = max(0, exchanged - sum(there.values()))
    least = _LEAST_SHARE * max(sum(here.values()), exchanged)
    change = {kind: here[kind] - there[kind] for kind in CollectiveKind}
    named = {share.kind for share in compiled if share.argument}
    most = max(change, key=lambda kind: (round(change[kind] / max(least, 1)), kind in named, change[kind]))
    fewest = min(change, key=lambda kind: change[kind])
    is_more = change[most] - unlisted > least
    is_fewer = -change[fewest] > least
    if not is_more and not is_fewer:
        return None
    return ExchangeDifference(
        _whole(compiled, most) if is_more else None,
        there[most],
        _whole(estimated, fewest) if is_fewer else None,
        here[fewest],
    )


def _by_kind(shares: Sequence[CollectiveShare]) -> Counter[CollectiveKind]:
    found: Counter[CollectiveKind] = Counter()
    for share in shares:
        found[share.kind] += share.bytes
    return found


def _whole(shares: Sequence[CollectiveShare], kind: CollectiveKind) -> CollectiveShare:
    """All shares of a kind as one, which is where the largest of them is."""
    alike = [share for share in shares if share.kind is kind]
    largest = max(alike, key=lambda share: share.bytes)
    times = [share.seconds for share in alike if share.seconds is not None]
    return replace(
        largest,
        count=sum(share.count for share in alike),
        bytes=sum(share.bytes for share in alike),
        seconds=sum(times) if len(times) == len(alike) else None,
    )
