"""One axis of a picture that stands still: pixels of values, and the round values that are marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_RATIO = 10
"""From so many times the least on, an axis is logarithmic."""
_STEPS = (1, 2, 5, 10)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PictureAxis:
    """From the least value at pixel `start` to the greatest at `end`.

    Attributes:
      low, high: values, above 0 where the axis is logarithmic.
      is_log: whether equal ratios take equal room.
    """

    low: float
    high: float
    start: int
    end: int
    is_log: bool

    @classmethod
    def of(cls, values: Sequence[float], start: int, end: int) -> PictureAxis:
        """One that holds all of the values; there is at least one."""
        low, high = min(values), max(values)
        return cls(low, high, start, end, high > _RATIO * low > 0)

    def pixel(self, value: float) -> int:
        """Where a value is; what is unknown or outside is at the nearer end."""
        if not math.isfinite(value) or (self.is_log and value <= 0):
            return self.start
        scale = math.log10 if self.is_log else float
        share = (scale(value) - scale(self.low)) / ((scale(self.high) - scale(self.low)) or 1.0)
        return self.start + round((self.end - self.start) * min(1.0, max(0.0, share)))

    def ticks(self, most: int) -> list[float]:
        """At most so many round values within."""
        return next(
            (found for found in self._choices(most) if len(found) <= most),
            [self.low] if most == 1 else [self.low, self.high],
        )

    def _choices(self, most: int) -> Iterable[list[float]]:
        if not self.is_log:
            power = 10.0 ** math.floor(math.log10((self.high - self.low) / most)) if self.high > self.low else 1.0
            yield from (self._multiples(step * power) for step in _STEPS)
            return
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            made = (float(f"{factor}e{power}") for power in powers for factor in factors)
            yield [value for value in made if self.low <= value <= self.high]

    def _multiples(self, step: float) -> list[float]:
        first, last = math.ceil(self.low / step - _ROUNDING), math.floor(self.high / step + _ROUNDING)
        return [float(f"{place * step:.12g}") for place in range(first, last + 1)]
