"""The requests of the timeline tab: the lanes with a coarse picture, tiles of it, an event, the events of a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, quoted
from jaxstage_ext.panel.requests import (
    timeline_compare_requests,
    timeline_export_requests,
    timeline_head_requests,
    timeline_search_requests,
    timeline_table_requests,
)
from jaxstage_ext.panel.requests.forms import event_form, tile_form
from jaxstage_ext.panel.requests.forms.timeline_params import kind_of, timeline_of
from jaxstage_ext.profiling.lanes.event_search import events_of_row
from jaxstage_ext.profiling.lanes.event_styles import event_styles, style_groups
from jaxstage_ext.profiling.lanes.lane_rows import lane_order, lane_rows
from jaxstage_ext.profiling.lanes.tile_grid import BINS, tile_grid
from jaxstage_ext.profiling.mosaic import mosaic_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.predicting.chosen_timeline import chosen_kind, timeline_kinds
from jaxstage_ext.report.recording import SECOND, Recording, TimeUnit
from jaxstage_ext.report.text.shortened import shortened
from jaxstage_ext.report.unavailable import Unavailable

MOST_LANES = 20_000
"""Lanes that are listed."""
MOST_OF_TILE = 128
"""Lanes of one request for a tile."""
MOST_IN_PICTURE = 60
"""Rows of the coarse picture that comes with the lanes."""
MOST_PLACES = 2000
"""Events of a line that are listed."""


def _drawn(programs: Programs, params: Params, progress: jobs.JobProgress | None = None) -> Timeline:
    """The timeline that is asked for. Raises Unavailable where there is none, or its events have no times."""
    timeline = timeline_of(programs, params, progress)
    if timeline.recording.unit is TimeUnit.CYCLE:
        raise Unavailable(mosaic_wording.NOT_DRAWN)
    return timeline


def _overview(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The lanes in the order in which they are shown, the tile grid, and a coarse picture of the first lanes."""
    timeline = _drawn(programs, params, progress)
    progress("sorting the events")
    about, buffers = overview(timeline)
    program = given.program(programs, params)
    kinds = [kind.value for kind in timeline_kinds(program)]
    return about | {"of": chosen_kind(program, kind_of(params)).value, "kinds": kinds}, buffers


def overview(timeline: Timeline) -> Answer:
    """The answer to "timeline": the lanes, the tile grid and a coarse picture of the first lanes, bounded in size."""
    recording, grid = timeline.recording, tile_grid(timeline.recording)
    order = lane_order(recording)[:MOST_LANES]
    pictured = _pictured(recording, order)
    result, buffers = tile_form.packed(timeline, tile_form.segments(timeline, grid, 0, 0, pictured))
    about = {
        "title": shortened(recording.title, 500),
        "format": recording.format,
        "predicted": timeline.is_predicted,
        "base": grid.base / SECOND,
        "end": grid.end / SECOND,
        "bins": BINS,
        "bin": grid.bin(0) / SECOND,
        "levels": grid.levels,
        "events": len(recording.events),
        "total": recording.total,
        "lanes": _lanes(recording, order),
        "left_out": len(recording.lanes) - len(order),
        "groups": [{"name": name, "seconds": seconds} for name, seconds in _groups(timeline)],
    }
    return about | {"picture": result | {"lanes": pictured}}, buffers


def _pictured(recording: Recording, order: list[int]) -> list[int]:
    """The first lanes that are not hidden, up to so many rows."""
    rows, room = lane_rows(recording), MOST_IN_PICTURE
    kept: list[int] = []
    for lane in order:
        if not recording.lanes[lane].hidden:
            room -= len(rows.rows_of(lane))
            if room < 0 and kept:
                break
            kept.append(lane)
    return kept[:MOST_OF_TILE]


def _lanes(recording: Recording, order: list[int]) -> list[dict[str, Any]]:
    rows, short = lane_rows(recording), shortened
    counts = np.bincount(recording.events.lane, minlength=len(recording.lanes))
    counters = {series.lane: series for series in recording.counters}
    return [
        {
            "lane": number,
            "group": short(_group(recording, number), 200),
            "name": short(recording.lanes[number].name, 200),
            "kind": recording.lanes[number].kind,
            "hidden": recording.lanes[number].hidden,
            "rows": len(rows.rows_of(number)),
            "events": int(counts[number]),
            "deeper": int(rows.deeper[number]),
            **(event_form.counter_form(counters[number]) if number in counters else {}),
        }
        for number in order
    ]


def _group(recording: Recording, number: int) -> str:
    """The group of a lane, with its machine where there are several."""
    lane = recording.lanes[number]
    if len({one.host for one in recording.lanes}) < 2:
        return lane.group
    name = recording.hosts[lane.host] if 0 <= lane.host < len(recording.hosts) else ""
    return f"{name or f'host {lane.host}'} · {lane.group}"


def _groups(timeline: Timeline) -> list[tuple[str, float]]:
    looks, (group, names) = event_styles(timeline.recording), style_groups(timeline)
    return list(zip(names, np.bincount(group, looks.seconds, len(names)).tolist(), strict=True))


def _tile(programs: Programs, params: Params) -> Answer:
    """What is drawn of some lanes in one tile."""
    timeline = _drawn(programs, params)
    grid = tile_grid(timeline.recording)
    level = given.integer(params, "level", 0, grid.levels - 1)
    tile = given.integer(params, "tile", 0, (1 << level) - 1)
    lanes = _numbers(given.text(params, "lanes"), len(timeline.recording.lanes))
    return tile_form.packed(timeline, tile_form.segments(timeline, grid, level, tile, lanes))


def _numbers(text: str, end: int) -> list[int]:
    """The lanes that a request names. Raises BadRequest unless they are numbers below `end`."""
    parts = text[: 8 * MOST_OF_TILE].split(" ")
    if len(parts) > MOST_OF_TILE or not all(part.isascii() and part.isdecimal() and int(part) < end for part in parts):
        raise BadRequest(f"lanes must be up to {MOST_OF_TILE} numbers below {end}, not {quoted(text)}")
    return [int(part) for part in parts]


def _event(programs: Programs, params: Params) -> Answer:
    """All that is known of an event."""
    timeline = _drawn(programs, params)
    count = len(timeline.recording.events)
    if not count:
        raise BadRequest("this timeline has no events")
    return event_form.event_form(timeline, given.integer(params, "event", 0, count - 1)), []


def _events_of(programs: Programs, params: Params) -> Answer:
    """The events of a row of the HLO document or of the source: how many, their time, and the first of them."""
    timeline, program = _drawn(programs, params), given.program(programs, params)
    kind, row = given.text(params, "doc"), given.integer(params, "row", 0, 1 << 31)
    if kind not in program.documents:
        raise BadRequest(f"there is no {quoted(kind)} document")
    found = events_of_row(timeline, program.documents[kind], row)
    listed = [event_form.place_form(timeline.recording, event) for event in found[:MOST_PLACES].tolist()]
    seconds = float(timeline.recording.events.duration[found].sum()) / SECOND
    return {"count": len(found), "seconds": seconds, "events": listed}, []


METHODS: dict[str, Method] = {
    "timeline": jobs.slow(_overview),
    "timeline tile": _tile,
    "timeline event": _event,
    "timeline events of": _events_of,
    **timeline_head_requests.METHODS,
    **timeline_table_requests.METHODS,
    **timeline_search_requests.METHODS,
    **timeline_compare_requests.METHODS,
    **timeline_export_requests.METHODS,
}
