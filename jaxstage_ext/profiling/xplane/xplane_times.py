"""The times of a profile's events, in picoseconds since its origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling.xplane.xplane_wire import Plane
from jaxstage_ext.report.recording import NANOSECOND

ENVIRONMENT_PLANE = "Task Environment"
_UNIX = 10**17
"""Nanoseconds: timestamps from here on count from 1970, those below from the start of the profile."""
_LONGEST = 2 * 10**18
"""Picoseconds, 23 days: a time beyond it is damaged."""


class EventTimes(NamedTuple):
    """Start and duration in picoseconds; events whose times are absurd, and those that were set right."""

    start: Longs
    duration: Longs
    absurd: npt.NDArray[np.bool_]
    negative: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Clock:
    """What the timestamps of a profile's lines count from."""

    base: int
    """The timestamp that is time 0, in nanoseconds."""
    origin: int | None
    """Its Unix time in nanoseconds, or None."""

    def times(self, timestamp: Longs, offset: Longs, duration: Longs) -> EventTimes:
        """The times of events, by the timestamp of their line, their offset from it and their duration."""
        limit = _LONGEST // NANOSECOND
        absurd = (timestamp < self.base - limit) | (timestamp > self.base + limit)
        absurd |= (offset < -_LONGEST) | (offset > _LONGEST) | (duration > _LONGEST)
        start = np.where(absurd, 0, (timestamp - self.base) * NANOSECOND + offset)
        negative = ~absurd & ((start < 0) | (duration < 0))
        return EventTimes(np.maximum(start, 0), np.where(negative | absurd, 0, duration), absurd, negative)


def clock_of(planes: Sequence[Plane]) -> Clock:
    """The clock of a profile."""
    stamps = [
        line.timestamp for plane in planes for line in plane.lines if line.timestamp > 0 and len(line.events.size)
    ]
    if stamps and np.median(stamps) >= _UNIX:
        first = min(stamp for stamp in stamps if stamp >= _UNIX)
        return Clock(first, first)
    begins = [plane.facts.get("profile_start_time") for plane in planes if plane.name == ENVIRONMENT_PLANE]
    return Clock(0, next((int(begin) for begin in begins if isinstance(begin, int) and begin >= _UNIX), None))
