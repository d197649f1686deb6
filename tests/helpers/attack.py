"""Attacks: many seeded attempts at one thing, none of which may crash or hang; how they ended is printed at the end."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator

import jax
import pytest

FULL = os.environ.get("JAXSTAGE_HOSTILE") == "full"
"""Whether all attempts are made (`make hostile`), rather than those that CI has time for."""
SHARE = 2 if jax.__version_info__ < (0, 12) else 1
"""Of those in CI, the oldest JAX makes the first half: what it does not do alone, the newest one attacks in full."""
LONGEST = 2.0
"""Processor seconds of one thread that an attempt may take: more is a hang. Waiting is ended by the test's timeout."""


class Attack:
    """Attempts at one thing, and how they ended.

    attack = Attack("requests", attempts=10_000, in_ci=2_000, request=request)
    for rng in attack:
        attack.ended(outcome_of(mutated(rng)))
    """

    def __init__(self, title: str, attempts: int, in_ci: int, request: pytest.FixtureRequest, seed: int = 0) -> None:
        self.title, self.seed = title, seed
        self.attempts = attempts if FULL else max(1, in_ci // SHARE)
        self.outcomes: Counter[str] = Counter()
        self.slowest = (0.0, -1)
        self._request = request

    def __iter__(self) -> Iterator[random.Random]:
        """A generator of random numbers for each attempt; `Random(f"{seed}/{number}")` makes attempt `number` anew."""
        for number in range(self.attempts):
            before = time.thread_time()
            yield random.Random(f"{self.seed}/{number}")
            self.slowest = max(self.slowest, (time.thread_time() - before, number))
        self._request.node.user_properties.append(("attack", str(self)))
        seconds, number = self.slowest
        assert seconds < LONGEST, f"{self.title}: attempt {number} took {seconds:.1f} s"

    def ended(self, outcome: str) -> None:
        """Count how an attempt ended."""
        self.outcomes[outcome] += 1

    def __str__(self) -> str:
        ends = ", ".join(f"{count:,} {outcome}" for outcome, count in self.outcomes.most_common())
        return f"{self.title}: {self.attempts:,} attempts, slowest {1e3 * self.slowest[0]:.0f} ms; {ends}"
