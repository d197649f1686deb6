"""What a profile says of the runs that were launched: those of our own, and those that had not ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jaxstage_ext.core.own_work import WAIT_MODULE
from jaxstage_ext.profiling import event_kinds
from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents
from jaxstage_ext.profiling.xplane.xplane_stats import MODULE, Strings
from jaxstage_ext.profiling.xplane.xplane_wire import Plane
from jaxstage_ext.report.recording import Loss, Lost
from jaxstage_ext.report.text.units import plural


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
