"""How many elements of an input the elements of a kernel meet, over all places of a window."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np

from jaxstage_ext.analysis.cost.rules.windows import Dimension, met


def counted_one_by_one(size: int, kernel: int, out: int, window: Dimension) -> int:
    """Every pair of a place and a kernel element, looked at."""
    at = np.arange(out)[:, None] * window.stride - window.low + np.arange(kernel)[None] * window.dilation
    return int(((at >= 0) & (at < (size - 1) * window.base + 1) & (at % window.base == 0)).sum())


def test_it_is_what_looking_at_every_pair_gives() -> None:
    choose = random.Random(0)
    for _ in range(2000):
        window = Dimension(
            1, choose.randint(1, 4), choose.randint(-3, 6), 0, choose.randint(1, 5), choose.randint(1, 5)
        )
        sizes = choose.randint(1, 9), choose.randint(1, 6), choose.randint(0, 9)
        assert met(*sizes, window) == counted_one_by_one(*sizes, window), (sizes, window)


def test_a_window_as_large_as_a_batch_takes_no_more_memory_than_one_side() -> None:
    """A TPU computes a batch of 100,000 products as one convolution with a window of 100,000: pairs would be 80 GB."""
    tracemalloc.start()
    window = Dimension(100_000, 99_999, 0, 0, 1, 100_000)
    assert met(100_000, 100_000, 100_000, window) == 100_000
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
