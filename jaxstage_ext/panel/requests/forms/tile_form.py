"""Tiles of a timeline as the front end takes them: columns, and the looks that their segments refer to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.panel import wire_form
from jaxstage_ext.panel.params import Answer
from jaxstage_ext.profiling.lanes import tiles
from jaxstage_ext.profiling.lanes.event_styles import EventStyles, event_styles, style_groups
from jaxstage_ext.profiling.lanes.lane_rows import lane_rows
from jaxstage_ext.profiling.lanes.tile_grid import TileGrid
from jaxstage_ext.profiling.lanes.tiles import Segments, counter_segments
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import NONE, Recording
from jaxstage_ext.report.text.shortened import shortened

LONGEST_NAME = 200
"""Characters of a name that are sent with a tile; an event's own request gives all of it."""


def segments(timeline: Timeline, grid: TileGrid, level: int, tile: int, lanes: Sequence[int]) -> list[Segments]:
    """What is drawn of each of these lanes in a tile."""
    recording = timeline.recording
    counters = {series.lane: series for series in recording.counters}
    rows, looks = lane_rows(recording), event_styles(recording)
    return [
        counter_segments(counters[lane], grid, level, tile)
        if lane in counters
        else tiles.lane_segments(recording, rows, looks, grid, level, tile, lane)
        for lane in lanes
    ]


def packed(timeline: Timeline, parts: Sequence[Segments]) -> Answer:
    """The segments of several lanes, with how many each has, and their looks."""
    every = tiles.joined(parts)
    result, buffers = wire_form.packed({name: getattr(every, name) for name in tiles.COLUMNS})
    used = np.unique(every.look[every.look != NONE])
    looks = looks_form(timeline, event_styles(timeline.recording), used.tolist())
    return result | {"counts": [len(part) for part in parts], "looks": looks}, buffers


def looks_form(timeline: Timeline, looks: EventStyles, used: Sequence[int]) -> list[dict[str, Any]]:
    """The looks with these numbers: name, kind, instruction, HLO row, group and source line of each."""
    recording, places = timeline.recording, timeline.places
    group, _ = style_groups(timeline)
    return [
        {
            "look": look,
            "name": shortened(recording.names[int(looks.name[look])], LONGEST_NAME),
            "kind": int(looks.kind[look]),
            "group": int(group[look]),
            **op_form(recording, places, int(looks.op[look])),
        }
        for look in used
    ]


def op_form(recording: Recording, places: OpPlaces, op: int) -> dict[str, Any]:
    """An HLO instruction and where it stands; unknown parts are left out."""
    if op == NONE:
        return {}
    form: dict[str, Any] = {"op": shortened(recording.ops.name[op], LONGEST_NAME), "row": int(places.row[op])}
    frame = int(places.frame[op])
    if not 0 <= frame < len(places.frames):
        return form
    user = int(places.frames.user[frame])
    frame = user if user >= 0 else frame
    file = places.frames.files[int(places.frames.file[frame])]
    at = {"file": file.public_name, "label": file.label, "line": int(places.frames.line[frame])}
    return form | at | {"inferred": bool(places.inferred[op])}
