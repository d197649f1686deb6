"""One event, one counter of a timeline as the front end takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.panel.requests.forms import tile_form
from jaxstage_ext.profiling.lanes import event_detail
from jaxstage_ext.profiling.lanes.lane_rows import lane_rows
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import NONE, SECOND, CounterSeries, EventKind, Recording
from jaxstage_ext.report.text.shortened import shortened

LONGEST_NAME, MOST_PARTNERS = 10_000, 32


def place_form(recording: Recording, event: int) -> dict[str, Any]:
    """Where an event is drawn."""
    events = recording.events
    return {
        "event": event,
        "lane": int(events.lane[event]),
        "row": int(lane_rows(recording).depth[event]),
        "start": int(events.start[event]) / SECOND,
        "seconds": int(events.duration[event]) / SECOND,
    }


def event_form(timeline: Timeline, event: int) -> dict[str, Any]:
    """All that is known of an event, and the events that it started or that started it."""
    recording, events = timeline.recording, timeline.recording.events
    op = int(events.op[event])
    more: dict[str, Any] = tile_form.op_form(recording, timeline.places, op)
    if op != NONE:
        module = recording.modules[int(recording.ops.module[op])] if recording.ops.module[op] >= 0 else None
        more["module"] = shortened(module.name, tile_form.LONGEST_NAME) if module else ""
        more["category"] = _named(timeline.places.categories, int(timeline.places.category[op]))
        more["scope"] = _named(timeline.places.scopes, int(timeline.places.scope[op]))
    return {
        **place_form(recording, event),
        "name": shortened(recording.names[int(events.name[event])], LONGEST_NAME),
        "kind": EventKind(int(events.kind[event])).name.lower().replace("_", " "),
        "self": event_detail.detail(timeline, event).self_time / SECOND,
        "run": int(events.run[event]),
        "device": int(events.device[event]),
        "partners": [place_form(recording, other) for other in _partners(recording, event)],
        **more,
    }


def _named(names: tuple[str, ...], number: int) -> str:
    return shortened(names[number], LONGEST_NAME) if number >= 0 else ""


def _partners(recording: Recording, event: int) -> list[int]:
    """The other events with the same correlation."""
    correlation = int(recording.events.correlation[event])
    if not correlation:
        return []
    found = np.flatnonzero(recording.events.correlation == correlation)[: MOST_PARTNERS + 1]
    return [other for other in found.tolist() if other != event][:MOST_PARTNERS]


def counter_form(series: CounterSeries) -> dict[str, Any]:
    """The range of a counter, from 0 where it has no negative value."""
    values = series.value[np.isfinite(series.value)]
    low, high = (float(np.min(values)), float(np.max(values))) if len(values) else (0.0, 0.0)
    unit = shortened(series.unit, 40)
    return {"counter": {"unit": unit, "low": min(low, 0.0), "high": high, "samples": len(series.time)}}
