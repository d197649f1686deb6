"""Looks by what their instruction does, which gives an event its colour: "dot", "loop fusion", "wait"."""

from __future__ import annotations

import weakref

import numpy as np

from jaxstage_ext.profiling.lanes.event_looks import event_looks
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import NONE, EventKind, Index

Groups = tuple[Index, list[str]]
_known: weakref.WeakKeyDictionary[Timeline, Groups] = weakref.WeakKeyDictionary()


def look_groups(timeline: Timeline) -> Groups:
    """(of each look its group, the names of the groups: the one that takes the most time first). Computed once.

    The group is the category of the look's instruction, else what kind of event it is.
    """
    if (known := _known.get(timeline)) is None:
        known = _known[timeline] = _groups(timeline)
    return known


def _groups(timeline: Timeline) -> Groups:
    looks, places = event_looks(timeline.recording), timeline.places
    kinds = len(EventKind)
    names = [kind.name.lower() for kind in EventKind] + list(places.categories)
    category = np.full(len(looks), NONE, np.int64)
    has_op = np.flatnonzero(looks.op != NONE)
    category[has_op] = places.category[looks.op[has_op]]
    number = np.where(category >= 0, category + kinds, np.minimum(looks.kind, kinds - 1))
    seconds = np.bincount(number, looks.seconds, len(names))
    used = np.flatnonzero(np.bincount(number, minlength=len(names)))
    used = used[np.argsort(-seconds[used], kind="stable")]
    place = np.zeros(len(names), np.int32)
    place[used] = np.arange(len(used))
    return place[number], [names[one] for one in used.tolist()]
