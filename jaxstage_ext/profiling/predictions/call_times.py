"""The line that makes most of a predicted call: its computation, and what nothing hides of it."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.predictions.call_line import CallLine
from jaxstage_ext.report.recording import NONE, SECOND, Recording


def longest_line(recording: Recording, places: OpPlaces, work: DeviceWork) -> CallLine | None:
    """The line that makes most of a call, loops as often as they run; None where no line is known."""
    lines, labels = line_labels(places)
    line = np.append(lines, NONE)[recording.events.op[work.event]]
    known = line >= 0
    if not known.any() or work.of_call is None:
        return None
    total = np.bincount(line[known], work.of_call[known])
    most = int(np.argmax(total))
    return CallLine(labels[most], float(total[most]) / SECOND)
