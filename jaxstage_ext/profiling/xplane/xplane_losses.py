"""What a profile lost, and what was wrong in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents
from jaxstage_ext.profiling.xplane.xplane_times import EventTimes
from jaxstage_ext.profiling.xplane.xplane_wire import Plane
from jaxstage_ext.report.recording import Loss, Lost


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
