"""Recordings bounded to a number of events, with what was left out counted."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.recording import Events, Loss, Lost, Recording


def limited(recording: Recording, most: int) -> Recording:
    """No more than `most` events: first those of hidden lanes go, then the latest ones."""
    count = len(recording.events)
    if count <= most:
        return recording
    hidden = np.array([lane.hidden for lane in recording.lanes], bool)[recording.events.lane]
    kept = np.zeros(count, bool)
    first = np.lexsort((recording.events.start, hidden))[: max(most, 0)]
    kept[first] = True
    return replace(
        recording,
        events=_rows(recording.events, kept),
        lost=(*recording.lost, Lost(Loss.CUT, int(count - kept.sum()))),
        details=_KeptDetails(recording, np.flatnonzero(kept)),
    )


def _rows(events: Events, kept: npt.NDArray[np.bool_]) -> Events:
    return Events(**{each.name: getattr(events, each.name)[kept] for each in fields(Events) if each.init})


class _KeptDetails:
    """The profile's fields of the events that were kept."""

    def __init__(self, recording: Recording, rows: npt.NDArray[np.int64]) -> None:
        self._details, self._rows = recording.details, rows

    def __call__(self, event: int) -> dict[str, object]:
        return dict(self._details(int(self._rows[event])))
