"""The events of a line of source or of an HLO instruction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.recording import NONE


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
