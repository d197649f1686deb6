"""Search in all events of a recording: by name, HLO instruction, source line, name scope, and by a document's row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.recording import NONE

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


def events_of_row(timeline: Timeline, document: Document, row: int) -> npt.NDArray[np.int64]:
    """The events of a row of the source or of the HLO document, the earliest first; none of other documents."""
    places, events = timeline.places, timeline.recording.events
    if document.kind == "hlo":
        is_of = places.row == row
    elif document.file is not None and document.number is not None and row < len(document):
        is_of = _at(timeline, document, row)
    else:
        return np.zeros(0, np.int64)
    found = np.flatnonzero((events.op != NONE) & np.append(is_of, False)[events.op])
    return found[np.argsort(events.start[found], kind="stable")]


def _at(timeline: Timeline, document: Document, row: int) -> npt.NDArray[np.bool_]:
    """Which instructions stand at a row of the source."""
    assert document.file is not None and document.number is not None
    places, frames = timeline.places, timeline.places.frames
    file = int(document.file[row])
    if not (0 <= file < len(document.frames.files)) or not len(frames):
        return np.zeros(len(places.frame), bool)
    name, line = document.frames.files[file].public_name, int(document.number[row])
    same = np.array([one.public_name == name for one in frames.files], bool)
    user = np.where(frames.user >= 0, frames.user, np.arange(len(frames)))
    at = (
        same[frames.file[user]] & (frames.line[user] <= line) & (line <= np.maximum(frames.end_line, frames.line)[user])
    )
    return np.append(at, False)[places.frame]
