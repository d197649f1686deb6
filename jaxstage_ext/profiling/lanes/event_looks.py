"""How events look: those with one name, kind and instruction look alike."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.recording import Index, Recording


@dataclass(frozen=True, eq=False)
class EventLooks:
    """One entry a look; `of_event` has the look of each event.

    Attributes:
      name: index into `Recording.names`.    op: index into `Recording.ops`, or NONE.    kind: an `EventKind`.
      seconds: the sum of the durations of its events.
    """

    of_event: Index
    name: Index
    op: Index
    kind: npt.NDArray[np.uint8]
    seconds: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.name)


_known: weakref.WeakKeyDictionary[Recording, EventLooks] = weakref.WeakKeyDictionary()


def event_looks(recording: Recording) -> EventLooks:
    """The looks of a recording's events, computed once."""
    if (known := _known.get(recording)) is None:
        known = _known[recording] = _looks(recording)
    return known


def _looks(recording: Recording) -> EventLooks:
    events = recording.events
    key = (events.name.astype(np.int64) * (len(recording.ops) + 1) + events.op + 1) * 16 + events.kind
    unique, first, of_event = np.unique(key, return_index=True, return_inverse=True)
    return EventLooks(
        of_event=of_event.astype(np.int32),
        name=events.name[first],
        op=events.op[first],
        kind=events.kind[first],
        seconds=np.bincount(of_event, events.duration * 1e-12, len(unique)),
    )
