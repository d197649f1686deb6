"""Times as JSON writes them, in microseconds, turned into whole picoseconds without losing a digit.

A float64 of 1.7e15 microseconds (Unix time) keeps 0.25 microseconds; its decimal text keeps all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

PICOSECONDS = 10**6
"""In a microsecond."""
LONGEST = 2**52
"""Microseconds: 142 years. More is not a time."""
_EXACT = 2.0**32
"""Microseconds up to which a float64 holds a picosecond."""
_UNKNOWN = (0, 0, False)


@dataclass(frozen=True)
class Times:
    """A column of times: whole microseconds, picoseconds beyond them in [0, 10**6), and whether there is a time."""

    whole: npt.NDArray[np.int64]
    part: npt.NDArray[np.int64]
    known: npt.NDArray[np.bool_]


def times(values: Sequence[Any]) -> Times:
    """A column of JSON values; floats are `bytes`, their digits. Anything but a number in range is unknown."""
    kinds = np.fromiter(map(_kind, values), np.uint8, len(values))
    whole, part = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    integers, floats = np.flatnonzero(kinds == 1), np.flatnonzero(kinds == 2)
    whole[integers] = [values[row] for row in integers.tolist()]
    whole[floats], part[floats], fits = _floats([values[row] for row in floats.tolist()])
    known = kinds > 0
    known[floats] = fits
    return Times(whole, part, known)


def _kind(value: Any) -> int:
    if type(value) is int:
        return 1 if -LONGEST < value < LONGEST else 0
    return 2 if type(value) is bytes and len(value) < 60 else 0


def _floats(texts: list[bytes]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    values = np.array(texts, "S").astype(np.float64) if texts else np.zeros(0)
    fits = np.abs(values) < LONGEST
    values = np.where(fits, values, 0)
    whole = np.floor(values)
    part = np.rint((values - whole) * PICOSECONDS).astype(np.int64)
    whole = whole.astype(np.int64)
    for row in np.flatnonzero(fits & (np.abs(values) >= _EXACT)).tolist():
        whole[row], part[row] = _digits(texts[row].decode())
    carry = part // PICOSECONDS
    return whole + carry, part - carry * PICOSECONDS, fits


def _digits(text: str) -> tuple[int, int]:
    """Whole microseconds, and picoseconds beyond them, of a number in decimal."""
    digits, _, exponent = text.lower().partition("e")
    before, _, after = digits.partition(".")
    shift = len(after) - int(exponent or 0) - 6
    number = int(before + after)
    scaled: int = number * 10**-shift if shift <= 0 else (number + 5 * 10 ** (shift - 1)) // 10**shift
    return scaled // PICOSECONDS, scaled % PICOSECONDS
