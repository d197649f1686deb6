"""A part of a recording: the events within a range of time, cut at its ends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from jaxstage_ext.report.recording import SECOND, Recording
from jaxstage_ext.report.text.units import duration


def window(start: float, end: float) -> tuple[int, int]:
    """A range of seconds in picoseconds. Raises ValueError where it is empty or not a range."""
    if not (math.isfinite(start) and math.isfinite(end) and end > start):
        raise ValueError(f"between({start!r}, {end!r}): the end must come after the start, both in seconds")
    if max(abs(start), abs(end)) * SECOND >= 2**62:
        raise ValueError(f"between({start!r}, {end!r}): times are in seconds, and at most {duration(4e6)}")
    return round(start * SECOND), round(end * SECOND)


def between(recording: Recording, start: int, end: int) -> Recording:
    """The events of a recording that go on between two times in picoseconds, cut at both."""
    events = recording.events
    ends = events.end
    inside = (ends > start) & (events.start < end)
    inside |= (events.duration == 0) & (events.start >= start) & (events.start < end)
    rows = np.flatnonzero(inside)
    starts = np.maximum(events.start[rows], start)
    durations = np.minimum(ends[rows], end) - starts
    order = np.lexsort((-durations, starts, events.lane[rows]))
    rows, starts, durations = rows[order], starts[order], durations[order]
    columns = {name: column[rows] for name, column in vars(events).items() if isinstance(column, np.ndarray)}
    kept = replace(events, **{**columns, "start": starts, "duration": durations})
    details = recording.details
    return replace(recording, events=kept, total=len(rows), details=lambda event: details(int(rows[event])))
