"""The median's interval against the binomial table, quartiles against numbers worked out by hand."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest

from jaxstage_ext.profiling.timing.order_statistics import median_interval, quantile

RANKS = {6: 1, 7: 1, 8: 1, 9: 2, 10: 2, 12: 3, 20: 6, 25: 8, 30: 10, 50: 18, 70: 27}
"""The rank of the lower end at 95 %: Le Boudec, "Performance Evaluation of Computer and Communication Systems",
2010, table A.1; the upper end is as far from the other side."""


@pytest.mark.parametrize(("count", "rank"), RANKS.items())
def test_the_ranks_are_those_of_the_published_table(count: int, rank: int) -> None:
    samples = list(range(1, count + 1))
    random.Random(count).shuffle(samples)
    assert median_interval(samples) == (rank, count + 1 - rank)


@pytest.mark.parametrize("count", range(6))
def test_five_runs_and_fewer_state_no_uncertainty(count: int) -> None:
    assert median_interval([1.0] * count) is None


@pytest.mark.parametrize("count", [6, 9, 31, 100, 999])
def test_the_confidence_is_the_exact_sum_of_binomials(count: int) -> None:
    def confidence(rank: int) -> float:
        return 1 - 2 * sum(math.comb(count, i) for i in range(rank)) / 2**count

    interval = median_interval(list(range(1, count + 1)))
    assert interval is not None
    assert confidence(int(interval[0])) >= 0.95 > confidence(int(interval[0]) + 1)


def test_ten_thousand_runs_are_within_one_percent_of_the_ranks() -> None:
    low, high = median_interval(list(range(10_000))) or (0, 0)
    assert 4900 < low < 4904
    assert high == 9999 - low


def test_it_encloses_the_median_of_skewed_times_as_often_as_it_says() -> None:
    draw = np.random.default_rng(0).exponential(1.0, (2000, 15))
    enclosed = [low <= math.log(2) <= high for low, high in (median_interval(row) or (0, 0) for row in draw.tolist())]
    assert 0.95 <= np.mean(enclosed) <= 0.98


def test_quantiles_by_hand() -> None:
    samples = [4.0, 1.0, 3.0, 2.0]
    assert quantile(samples, 0.5) == 2.5
    assert (quantile(samples, 0.25), quantile(samples, 0.75)) == (1.75, 3.25)
    assert quantile([7.0], 0.25) == 7.0
    assert all(a <= b for a, b in pairwise(quantile(samples, share / 10) for share in range(11)))
    assert quantile(samples, 0.9) == pytest.approx(float(np.quantile(samples, 0.9)))
