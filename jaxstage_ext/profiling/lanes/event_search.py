"""Search in all events of a recording: by name, HLO instruction, source line and name scope."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.timeline import Timeline

Mask = npt.NDArray[np.bool_]


def matching_events(timeline: Timeline, query: str) -> npt.NDArray[np.int64]:
    """The events that have all words of the query, in the order of their start.

    A word may be part of the event's name, of the HLO instruction it runs, of its source line ("In [2]:7") or of its
    name scope. Upper and lower case are the same. An empty query has no matches.
    """
    words = query.lower().split()
    events, recording = timeline.columns, timeline.recording
    if not words or not len(events):
        return np.zeros(0, np.int64)
    names, ops = [name.lower() for name in recording.names], _op_texts(timeline)
    matched = np.ones(len(events), bool)
    for word in words:
        by_op = np.append(_having(ops, word), False)  # the last entry is for events without an op
        matched &= _having(names, word)[events.name] | by_op[events.op]
    hits = np.flatnonzero(matched)
    return hits[np.argsort(events.start[hits], kind="stable")]


def _having(texts: Sequence[str], word: str) -> Mask:
    return np.fromiter((word in text for text in texts), bool, len(texts))


def _op_texts(timeline: Timeline) -> list[str]:
    codes, labels = line_labels(timeline.places)
    scopes, scope = timeline.places.scopes, timeline.places.scope.tolist()
    return [
        f"{name}\n{labels[code] if code >= 0 else ''}\n{scopes[at] if at >= 0 else ''}".lower()
        for name, code, at in zip(timeline.recording.ops.name, codes.tolist(), scope, strict=True)
    ]
