"""Which of a recording's modules took the most time, so that its HLO is the one to show."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.report.recording import NONE, EventKind, Recording


def busiest_module(recording: Recording, with_proto: bool = False) -> int:
    """Index of the module whose ops took the most time, parallel ops summed; NONE where none that ran is known.

    With `with_proto`, of those whose serialized module the profile holds.
    """
    if not recording.modules:
        return NONE
    events = recording.events
    known = events.op >= 0
    module = np.where(known, recording.ops.module[np.where(known, events.op, 0)], NONE) if len(recording.ops) else None
    if module is None or not known.any():
        return _first(recording, with_proto)
    counted = (module >= 0) & (events.kind != EventKind.MODULE)
    time = np.bincount(module[counted], events.duration[counted].astype(np.float64), len(recording.modules))
    runs = np.bincount(module[counted], minlength=len(recording.modules))
    for number in np.argsort(-time, kind="stable").tolist():
        if not runs[number]:
            continue
        if not with_proto or recording.modules[number].proto is not None:
            return int(number)
    return NONE


def _first(recording: Recording, with_proto: bool) -> int:
    numbers = (i for i, module in enumerate(recording.modules) if not with_proto or module.proto is not None)
    return next(numbers, NONE)
