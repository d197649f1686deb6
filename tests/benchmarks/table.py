"""How a figure is taken and printed: against a baseline measured in the same run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def against(work: Callable[[], Any], baseline: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Median seconds of both, taken in turn so that both see the same machine; the order alternates."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(rounds):
        for ours in (True, False) if number % 2 else (False, True):
            times[ours].append(seconds(work if ours else baseline))
    return statistics.median(times[True]), statistics.median(times[False])


def row(what: str, measured: str, baseline: str, goal: str, reached: bool) -> None:
    print(
        f"\n{what:<58} {measured:>24} {baseline:>26}   goal {goal:<22} {'reached' if reached else 'NOT REACHED'}",
        end="",
    )
