"""Disjoint sets of whole numbers that are joined one by one (union-find with path halving)."""

from __future__ import annotations


class DisjointSets:
    """At first each number is a set of its own."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def root(self, at: int) -> int:
        """The number that stands for a set; the least one in it."""
        parent = self._parent
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    def join(self, first: int, second: int) -> None:
        """Make one set of two."""
        first, second = self.root(first), self.root(second)
        self._parent[max(first, second)] = min(first, second)
