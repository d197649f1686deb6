"""The styles in which events are drawn: those with one name, kind and instruction have one label and one colour."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import NONE, EventKind, Index, Recording


@dataclass(frozen=True, eq=False)
class EventStyles:
    """One entry a style; `of_event` has the style of each event."""

    of_event: Index
    name: Index
    """Index into `Recording.names`."""
    op: Index
    """Index into `Recording.ops`, or NONE."""
    kind: npt.NDArray[np.uint8]
    """An `EventKind`."""
    seconds: npt.NDArray[np.float64]
    """The sum of the durations of its events."""

    def __len__(self) -> int:
        return len(self.name)


_known: weakref.WeakKeyDictionary[Recording, EventStyles] = weakref.WeakKeyDictionary()


def event_styles(recording: Recording) -> EventStyles:
    """The styles of a recording's events, computed once."""
    if (known := _known.get(recording)) is None:
        known = _known[recording] = _styles(recording)
    return known


def _styles(recording: Recording) -> EventStyles:
    events = recording.events
    key = (events.name.astype(np.int64) * (len(recording.ops) + 1) + events.op + 1) * 16 + events.kind
    unique, first, of_event = np.unique(key, return_index=True, return_inverse=True)
    return EventStyles(
        of_event=of_event.astype(np.int32),
        name=events.name[first],
        op=events.op[first],
        kind=events.kind[first],
        seconds=np.bincount(of_event, events.duration * 1e-12, len(unique)),
    )


Groups = tuple[Index, list[str]]
_known_groups: weakref.WeakKeyDictionary[Timeline, Groups] = weakref.WeakKeyDictionary()


def style_groups(timeline: Timeline) -> Groups:
    """(of each style its group, the names of the groups: the one that takes the most time first). Computed once.

    The group is the category of the style's instruction, else what kind of event it is.
    """
    if (known := _known_groups.get(timeline)) is None:
        known = _known_groups[timeline] = _groups(timeline)
    return known


def _groups(timeline: Timeline) -> Groups:
    styles, places = event_styles(timeline.recording), timeline.places
    kinds = len(EventKind)
    names = [kind.name.lower() for kind in EventKind] + list(places.categories)
    category = np.full(len(styles), NONE, np.int64)
    has_op = np.flatnonzero(styles.op != NONE)
    category[has_op] = places.category[styles.op[has_op]]
    number = np.where(category >= 0, category + kinds, np.minimum(styles.kind, kinds - 1))
    seconds = np.bincount(number, styles.seconds, len(names))
    used = np.flatnonzero(np.bincount(number, minlength=len(names)))
    used = used[np.argsort(-seconds[used], kind="stable")]
    place = np.zeros(len(names), np.int32)
    place[used] = np.arange(len(used))
    return place[number], [names[one] for one in used.tolist()]
