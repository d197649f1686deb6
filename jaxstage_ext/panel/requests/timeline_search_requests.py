"""The search of the timeline tab, which finds in the whole recording, and all about one event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs
from jaxstage_ext.panel.requests.forms.timeline_params import seconds, timeline_of
from jaxstage_ext.panel.wire_form import packed
from jaxstage_ext.profiling.lanes.event_detail import EventDetail, Partner, detail
from jaxstage_ext.profiling.lanes.event_search import matching_events
from jaxstage_ext.profiling.lanes.event_styles import event_styles
from jaxstage_ext.profiling.lanes.lane_rows import lane_rows
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.source.line_texts import line_texts
from jaxstage_ext.report.recording import NONE, SECOND, EventKind
from jaxstage_ext.report.text.units import duration, plural

PAGE = 2000
"""Hits that are sent at a time."""
MOST_LOOKS = 20_000
"""Looks (see `EventStyles`) of hits that are sent, so that they stand out among the lanes."""
LONGEST_QUERY, LONGEST_NAME = 500, 1000


def _search(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The hits of one page in the order of time, and how many there are in the whole recording."""
    timeline, query = timeline_of(programs, params, progress), given.text(params, "query")
    if len(query) > LONGEST_QUERY:
        raise BadRequest(f"a search has at most {LONGEST_QUERY} characters, not {len(query):,}")
    progress("searching")
    hits, page = matching_events(timeline, query), given.integer(params, "page", 0, 1 << 31)
    shown, events = hits[PAGE * page : PAGE * (page + 1)], timeline.columns
    looks = np.unique(event_styles(timeline.recording).of_event[hits])[:MOST_LOOKS]
    columns = {
        "event": shown,
        "lane": events.lane[shown],
        "start": events.start[shown] / SECOND,
        "duration": events.duration[shown] / SECOND,
        "row": lane_rows(timeline.recording).depth[shown].astype(np.int64),
        "look": looks,
    }
    result, buffers = packed(columns)
    return {"query": query, "total": len(hits), "first": PAGE * page, **result}, buffers


def _detail(programs: Programs, params: Params) -> Answer:
    """All about one event."""
    timeline = timeline_of(programs, params)
    if not (count := len(timeline.columns)):
        raise BadRequest("this timeline has no events")
    known = detail(timeline, given.integer(params, "event", 0, count - 1))
    span = known.span
    line = f"{span.label}:{span.line}" if span else ""
    return _about(timeline, known) | {
        "line": line,
        "code": line_texts(given.program(programs, params)).get(line, "") if line else "",
        "inferred": span.inferred if span else False,
        "partner": _partner(timeline, known, known.partner),
        **{
            name: _neighbour(timeline, event)
            for name, event in (("parent", known.parent), ("before", known.before), ("after", known.after))
        },
        "fields": [{"name": one.name, "value": one.value, "doubtful": list(one.doubtful)} for one in known.fields],
        "left_out": known.fields_left_out,
    }, []


def _about(timeline: Timeline, known: EventDetail) -> dict[str, Any]:
    return {
        "event": known.event,
        "name": known.name[:LONGEST_NAME],
        "kind": known.kind.name.lower(),
        "start": seconds(known.start),
        "duration": seconds(known.duration),
        "self": seconds(known.self_time),
        "lane": f"{known.lane.group}, {known.lane.name}"[:LONGEST_NAME],
        "device": "" if known.device == NONE else str(known.device),
        "op": known.op[:LONGEST_NAME],
        "module": known.module[:LONGEST_NAME],
        "category": known.category,
        "scope": known.scope[:LONGEST_NAME],
        "row": known.row,
    }


def _partner(timeline: Timeline, known: EventDetail, partner: Partner | None) -> Mapping[str, Any] | None:
    if partner is None:
        return None
    name = timeline.recording.names[timeline.columns.name[partner.event]][:LONGEST_NAME]
    is_launch = known.kind == EventKind.LAUNCH
    words = f"launches {name}" if is_launch else f"launched by {name}"
    if partner.latency is None:
        words += ", on a machine whose clock differs"
    elif partner.latency < 0:
        words += f"; the clocks disagree: the work starts {duration(-partner.latency / SECOND)} before the launch"
    else:
        words += f"; the work starts {duration(partner.latency / SECOND)} after the launch does"
    if partner.others:
        words += f"; {plural(partner.others, 'more event')} with the same correlation"
    return {"event": partner.event, "name": name, "words": words}


def _neighbour(timeline: Timeline, event: int) -> Mapping[str, Any] | None:
    if event == NONE:
        return None
    events = timeline.columns
    return {
        "event": event,
        "name": timeline.recording.names[events.name[event]][:LONGEST_NAME],
        "start": seconds(int(events.start[event])),
        "duration": seconds(int(events.duration[event])),
    }


METHODS: dict[str, Method] = {"timeline search": jobs.slow(_search), "timeline detail": _detail}
