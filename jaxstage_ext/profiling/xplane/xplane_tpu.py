"""What a TPU's plane says of its ops in other places: in their names' own stats, and by the module that was running."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents
from jaxstage_ext.profiling.xplane.xplane_stats import ABSENT, MODULE, OP, PROGRAM, RUN, STATS, Strings
from jaxstage_ext.profiling.xplane.xplane_wire import EventName, Plane

OP_LINES = ("XLA Ops", "Async XLA Ops")
_MODULE_LINE = "XLA Modules"
_MODULE = re.compile(r"(.{1,200})\(([0-9]{1,20})\)")


def completed(plane: Plane, events: PlaneEvents, strings: Strings) -> PlaneEvents:
    """The events, with the stats of their names where they have none; ops of a TPU with their module and run."""
    stats = events.stats
    if any(name.stats for name in plane.event_names.values()):
        stats = _with_defaults(plane, events, strings)
    ops = np.isin(events.line, [n for n, line in enumerate(plane.lines) if line.name in OP_LINES])
    if plane.name.startswith("/device:") and ops.any():
        stats = stats.copy()
        _name(plane, events, stats, ops, strings)
        _place(plane, events, stats, np.flatnonzero(ops), strings)
    return replace(events, stats=stats)


def _with_defaults(plane: Plane, events: PlaneEvents, strings: Strings) -> Longs:
    """The stats where an event's own are completed by those of its name."""
    stats = events.stats.copy()
    ids, which = np.unique(events.metadata, return_inverse=True)
    for position, identity in enumerate(ids.tolist()):
        name = plane.event_names.get(identity)
        known = plane.stats(name.stats) if name is not None and name.stats else {}
        for row, stat in enumerate(STATS):
            if (value := _value(known.get(stat), row, strings)) != ABSENT:
                stats[row, (which == position) & (stats[row] == ABSENT)] = value
    return stats


def _value(value: object, row: int, strings: Strings) -> int:
    if row in (OP, MODULE):
        return strings(value) if isinstance(value, str) and value else ABSENT
    return value if isinstance(value, int) and -(2**63) < value < 2**63 else ABSENT


def _name(plane: Plane, events: PlaneEvents, stats: Longs, ops: npt.NDArray[np.bool_], strings: Strings) -> None:
    """Names the instruction of each op."""
    ids, which = np.unique(events.metadata, return_inverse=True)
    names = [strings(_instruction(plane.event_names.get(i))) for i in ids.tolist()]
    unnamed = ops & (stats[OP] == ABSENT)
    stats[OP, unnamed] = np.array(names, np.int64)[which[unnamed]]


def _instruction(name: EventName | None) -> str:
    """The instruction, "fusion.3", of an event that is called "%fusion.3 = f32[8] fusion(...)"."""
    return (name.display or name.name.partition(" = ")[0].lstrip("%")) if name is not None else ""


def _place(plane: Plane, events: PlaneEvents, stats: Longs, ops: Longs, strings: Strings) -> None:
    """Gives each op the module that was running when it began, and its run."""
    stamps = np.array([line.timestamp for line in plane.lines], np.int64)
    start = stamps[events.line] * 1000 + events.offset
    running = np.flatnonzero(
        np.isin(events.line, [n for n, line in enumerate(plane.lines) if line.name == _MODULE_LINE])
    )
    running = running[np.argsort(start[running], kind="stable")]
    if not len(running):
        return
    last = np.searchsorted(start[running], start[ops], side="right") - 1
    module = running[np.maximum(last, 0)]
    inside = (last >= 0) & (start[ops] < start[module] + np.maximum(events.duration[module], 1))
    ops, module = ops[inside], module[inside]
    ids, which = np.unique(events.metadata[module], return_inverse=True)
    matches = [_MODULE.fullmatch(plane.event_names[i].name if i in plane.event_names else "") for i in ids.tolist()]
    names = np.array([strings(m[1]) if m else ABSENT for m in matches], np.int64)
    programs = np.array([int(m[2]) if m and int(m[2]) < 2**63 else ABSENT for m in matches], np.int64)
    for row, values in ((MODULE, names[which]), (PROGRAM, programs[which]), (RUN, stats[RUN, module])):
        missing = stats[row, ops] == ABSENT
        stats[row, ops[missing]] = values[missing]
