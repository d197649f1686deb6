"""The runs of XLA modules in a recording, and which module took the most time: its HLO is the one to show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.device_work import DeviceWork
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


Numbers = npt.NDArray[np.int64]


def runs(recording: Recording, work: DeviceWork) -> tuple[list[str], Numbers, Numbers]:
    """Name of the module, start and end of each run, in the order of time; from first to last work of all devices."""
    events = recording.events
    rows = np.flatnonzero((events.kind == EventKind.MODULE) & (events.run >= 0))
    rows = np.concatenate([rows, work.event[events.run[work.event] >= 0]])
    number = events.run[rows]
    known, place = np.unique(number, return_inverse=True)
    start = np.full(len(known), np.iinfo(np.int64).max)
    end = np.full(len(known), np.iinfo(np.int64).min)
    np.minimum.at(start, place, events.start[rows])
    np.maximum.at(end, place, events.end[rows])
    modules = module_of_runs(recording, known)
    order = np.argsort(start, kind="stable")
    names = [recording.modules[i].name if i != NONE else "" for i in modules[order].tolist()]
    return names, start[order], end[order]


def module_of_runs(recording: Recording, known: npt.NDArray[np.integer]) -> Numbers:
    """Index of the module that each of these runs executes, by its ops; NONE unknown."""
    events = recording.events
    rows = np.flatnonzero((events.op >= 0) & (events.run >= 0))
    module = np.full(len(known), NONE, np.int64)
    place = np.searchsorted(known, events.run[rows])
    kept = (place < len(known)) & (known[np.minimum(place, len(known) - 1)] == events.run[rows]) if len(known) else []
    rows, place = rows[kept], place[kept]
    module[place] = recording.ops.module[events.op[rows]]
    return module
