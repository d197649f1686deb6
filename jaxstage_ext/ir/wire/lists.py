"""A list of numbers for each row, in two columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxstage_ext.ir.wire.protowire import Longs


@dataclass(frozen=True)
class Lists:
    """A list of numbers for each row: the list of row i is `values[start[i]:start[i + 1]]`."""

    start: Longs
    values: Longs

    def __getitem__(self, row: int) -> list[int]:
        start, values = self._plain
        return values[start[row] : start[row + 1]]

    @cached_property
    def _plain(self) -> tuple[list[int], list[int]]:
        """Both columns as Python lists, which are ten times as fast to slice."""
        return self.start.tolist(), self.values.tolist()

    @property
    def count(self) -> Longs:
        """The length of each list."""
        return np.diff(self.start)

    @cached_property
    def owner(self) -> Longs:
        """The row that each value belongs to."""
        return np.repeat(np.arange(len(self.start) - 1), self.count)

    def at(self, place: int, missing: int = -1) -> Longs:
        """The value at one place of every list; `missing` where a list is shorter."""
        result = np.full(len(self.start) - 1, missing, np.int64)
        has = self.count > place
        result[has] = self.values[self.start[:-1][has] + place]
        return result


def lists(owner: Longs, values: Longs, n: int) -> Lists:
    """The lists of n rows, from (owner, value) pairs ordered by owner."""
    return Lists(np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))]).astype(np.int64), values)
