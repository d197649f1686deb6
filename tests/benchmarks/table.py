"""How a figure is taken and printed: beside a baseline measured in the same run, and held to a goal."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

missed: list[str] = []
"""The rows of the running benchmark that missed their goal; it fails with them at its end (conftest.py)."""


class Pairs(NamedTuple):
    """Two pieces of work timed in pairs: the median seconds of each, and the median of the pairs' ratios."""

    ours: float
    theirs: float
    ratio: float


Clock = Callable[[], float]


def seconds(work: Callable[[], Any], clock: Clock = time.perf_counter) -> float:
    started = clock()
    work()
    return clock() - started


def pairs(
    work: Callable[[], Any],
    baseline: Callable[[], Any],
    rounds: int,
    *,
    cold: bool = False,
    clock: Clock = time.perf_counter,
) -> Pairs:
    """Times both in turn, so that both see the same machine; which goes first alternates.

    Args:
      work: ours.
      baseline: what it is compared to.
      rounds: how many pairs.
      cold: empty JAX's own caches, untimed, before each of the two.
      clock: `time.process_time` for work that waits for nothing, so that other work on the machine does not count.
    """
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(rounds):
        for times, run in [(ours, work), (theirs, baseline)][:: 1 if number % 2 else -1]:
            if cold:
                jax.clear_caches()
            gc.collect()
            times.append(seconds(run, clock))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return Pairs(statistics.median(ours), statistics.median(theirs), statistics.median(ratios))


def row(what: str, measured: str, baseline: str, goal: str, reached: bool) -> None:
    """Print a figure beside its goal; one that missed it fails the benchmark at its end."""
    if not reached:
        missed.append(f"{what}: {measured}{baseline and f' ({baseline})'}, goal {goal}")
    print(f"\n{what:<58} {measured:>24} {baseline:>26}   goal {goal:<22} {'ok' if reached else 'MISSED'}", end="")
