"""The source line of each HLO instruction of a recording, as people name it."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import NONE, Index


def counted_frames(places: OpPlaces) -> Index:
    """The frame whose line counts for each op; NONE where its source is unknown."""
    known = (places.frame >= 0) & (places.frame < len(places.frames))
    counted = np.full(len(places.frame), NONE, np.int32)
    own = places.frame[known]
    user = places.frames.user[own]
    counted[known] = np.where(user >= 0, user, own)
    return counted


def line_labels(places: OpPlaces) -> tuple[Index, tuple[str, ...]]:
    """For each op the index of its line among the labels, such as "In [2]:7"; NONE where its source is unknown."""
    counted, frames = counted_frames(places), places.frames
    codes = np.full(len(counted), NONE, np.int32)
    numbers = Numbering[str]()
    for frame in np.unique(counted[counted >= 0]).tolist():
        label = f"{frames.files[frames.file[frame]].label}:{frames.line[frame]}"
        codes[counted == frame] = numbers[label]
    return codes, tuple(numbers)
