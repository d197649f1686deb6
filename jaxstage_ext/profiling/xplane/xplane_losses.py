"""What a profile lost, and what was wrong in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from jaxstage_ext.core.own_work import WAIT_MODULE
from jaxstage_ext.profiling import event_kinds
from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents
from jaxstage_ext.profiling.xplane.xplane_stats import MODULE, Strings
from jaxstage_ext.profiling.xplane.xplane_times import EventTimes
from jaxstage_ext.profiling.xplane.xplane_wire import Plane
from jaxstage_ext.report.recording import Loss, Lost
from jaxstage_ext.report.text.units import plural


def reported(notices: Sequence[str], planes: Sequence[Plane]) -> list[Lost]:
    """The events that the profiler itself says it dropped, and its errors and warnings."""
    found = [Lost(Loss.DROPPED, None, notice) for notice in notices if notice]
    for plane in planes:
        count = plane.facts.get("dropped_traces")
        found += [Lost(Loss.DROPPED, count, plane.name)] if isinstance(count, int) and count > 0 else []
    return found


def losses(planes: Sequence[Plane], events: Sequence[PlaneEvents], times: EventTimes) -> list[Lost]:
    """The events that could not be read or whose times are wrong, by line."""
    found, at = [], 0
    for plane, of in zip(planes, events, strict=True):
        here = slice(at, at := at + len(of.line))
        for loss, counts in (
            (Loss.UNREADABLE, _unreadable(of, times.absurd[here], len(plane.lines))),
            (Loss.NEGATIVE, np.bincount(of.line[times.negative[here]], minlength=len(plane.lines))),
            (Loss.UNKNOWN_NAME, _unnamed(plane, of)),
        ):
            found += [Lost(loss, int(counts[n]), f"{plane.name} {plane.lines[n].name}") for n in np.flatnonzero(counts)]
    return found


def _unreadable(of: PlaneEvents, absurd: npt.NDArray[np.bool_], lines: int) -> npt.NDArray[np.int64]:
    counts = np.bincount(of.line[absurd], minlength=lines)
    for line, count in of.unreadable.items():
        counts[line] += count
    return counts


def _unnamed(plane: Plane, of: PlaneEvents) -> npt.NDArray[np.int64]:
    ids, which = np.unique(of.metadata, return_inverse=True)
    unknown = np.array([not (i in plane.event_names and plane.event_names[i].name) for i in ids.tolist()], bool)
    return np.bincount(of.line[unknown[which]] if len(ids) else of.line, minlength=len(plane.lines))


def without_own(plane: Plane, events: PlaneEvents, strings: Strings) -> PlaneEvents:
    """The events but for those of the module that a capture ends with."""
    own = np.array([WAIT_MODULE in name.name for name in plane.event_names.values()], bool)
    ids = np.array(list(plane.event_names), np.int64)[own] if len(own) else np.zeros(0, np.int64)
    is_own = np.isin(events.metadata, ids) | (events.stats[MODULE] == strings.index.get(WAIT_MODULE, -1))
    if not is_own.any():
        return events
    columns = ("line", "metadata", "offset", "duration", "position", "size")
    kept = {name: getattr(events, name)[~is_own] for name in columns}
    return replace(events, stats=events.stats[:, ~is_own], **kept)


def unfinished(whole: Sequence[Plane], events: Sequence[PlaneEvents]) -> list[Lost]:
    """What is missing of programs that a CPU still ran at the end: XLA records an operation when it ends."""
    if any(plane.name.startswith("/device:") for plane in whole):
        return []
    launched, ended = (_count(whole, events, name) for name in (event_kinds.LAUNCHES, event_kinds.RUNS_ON))
    return [Lost(Loss.UNFINISHED, None, plural(launched - ended, "program"))] if launched > ended > 0 else []


def _count(whole: Sequence[Plane], events: Sequence[PlaneEvents], name: str) -> int:
    return sum(
        int(np.isin(of.metadata, [number for number, event in plane.event_names.items() if event.name == name]).sum())
        for plane, of in zip(whole, events, strict=True)
    )
