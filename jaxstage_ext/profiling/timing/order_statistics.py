"""The median of some runs, and how sure it is: statistics that assume nothing of how the times are distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence

CONFIDENCE = 0.95
FEWEST = 6
"""Samples that an interval of 95 % needs: of five, the least and the greatest enclose the median in 94 % of cases."""


def quantile(samples: Sequence[float], share: float) -> float:
    """The quantile of some samples, linear between two of them (definition 7 of Hyndman and Fan, 1996; numpy's)."""
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """The interval between two samples that encloses the median of the distribution with at least this confidence.

    It holds for any distribution, if the runs are independent: the number of samples below the median is binomial.
    David and Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1; recommended for run times by Hoefler and
    Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015. None where there are too few samples.
    """
    outside = _samples_outside(len(samples), (1 - confidence) / 2)
    if not outside:
        return None
    ordered = sorted(samples)
    return ordered[outside - 1], ordered[-outside]


def _samples_outside(count: int, tail: float) -> int:
    """The rank of the interval's ends, from either side: the most with P(fewer below it) <= tail; 0 for none."""
    below, rank = 0.0, 0
    while rank < count:
        below += math.exp(_log_choose(count, rank) - count * math.log(2))
        if below > tail * (1 + 1e-9):
            return rank
        rank += 1
    return 0


def _log_choose(count: int, part: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(part + 1) - math.lgamma(count - part + 1)
