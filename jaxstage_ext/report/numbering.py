"""Keys numbered in the order in which they are first asked for, as pandas' `factorize` does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Key = TypeVar("Key")


class Numbering(dict[Key, int]):
    """Each key's number, from 0: asking for a new key gives it the next one. Iterating gives the keys in order."""

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number

    def number(self, key: Key) -> int:
        """The number of a key, which has one from now on."""
        return self[key]


def numbered(keys: Iterable[Key]) -> tuple[list[Key], npt.NDArray[np.int64]]:
    """(The distinct keys, for each key given which of them it is.)"""
    numbers = Numbering[Key]()
    codes = np.array([numbers[key] for key in keys], np.int64)
    return list(numbers), codes
