"""Shardy's rule of an operation: which dimensions of its operands and results are one factor and split alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Mapped = tuple[tuple[tuple[int, ...], ...], ...]
"""Per value and dimension its factors, the major one first."""


@dataclass(frozen=True)
class ShardingRule:
    """Factors by their number: of a matrix product m, n and k."""

    factors: tuple[int, ...]
    """Their sizes."""
    operands: Mapped
    results: Mapped
    reduction: frozenset[int] = frozenset()
    """Factors that are summed over: split, they leave a part of the sum on each device."""
    need_replication: frozenset[int] = frozenset()
    """Factors that the operation needs whole on each device."""
    permutation: frozenset[int] = frozenset()
    """Factors along which neighbours exchange."""
    blocked: frozenset[int] = frozenset()
    """Factors along which nothing is propagated."""

    @property
    def mapped(self) -> Mapped:
        """Those of the operands, then those of the results."""
        return self.operands + self.results


def rule_of(read: tuple[Any, ...] | None) -> ShardingRule | None:
    """The rule that a worker has read."""
    if read is None:
        return None
    factors, operands, results, *kinds = read
    return ShardingRule(factors, operands, results, *map(frozenset, kinds))
