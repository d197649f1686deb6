"""All that a recording says about one event, and the events it is next to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.profiling.analysis.line_labels import counted_frames
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.frames import SourceSpan
from jaxstage_ext.report.recording import NONE, EventKind, EventLane

MOST_FIELDS, LONGEST_NAME, LONGEST_VALUE = 60, 100, 1000


@dataclass(frozen=True)
class DetailField:
    """One of the profile's own fields, cut to what a page can show."""

    name: str
    value: str
    doubtful: tuple[str, ...] = ()
    """The parts of `value` that cannot be true."""


@dataclass(frozen=True)
class Partner:
    """The other end of a launch: the work of a launch, or the launch of the work."""

    event: int
    """Its index."""
    others: int
    """How many more events have the same correlation."""
    latency: int | None
    """Picoseconds from the start of the launch to the start of the work; None where their clocks differ."""


@dataclass(frozen=True)
class EventDetail:
    """One event."""

    event: int
    name: str
    kind: EventKind
    start: int
    duration: int
    self_time: int
    """Its duration without that of the events nested in it, in picoseconds."""
    lane: EventLane
    device: int
    run: int
    op: str
    module: str
    category: str
    scope: str
    """`op`, `module`, `category`, `scope`: of the HLO instruction that it runs; "" where unknown."""
    span: SourceSpan | None
    """Its source line; None where unknown."""
    row: int
    """In the HLO document; NONE where it is not in it."""
    partner: Partner | None
    parent: int
    before: int
    after: int
    """`parent`, `before`, `after`: neighbours in its lane, by index; NONE for none."""
    fields: tuple[DetailField, ...]
    fields_left_out: int


def detail(timeline: Timeline, event: int) -> EventDetail:
    """What is known about an event. Raises IndexError where the recording has no such event."""
    recording, events, places = timeline.recording, timeline.columns, timeline.places
    if not 0 <= event < len(events):
        raise IndexError(f"there is no event {event}; the recording has {len(events):,}")
    op = int(events.op[event])
    fields, left_out = _fields(recording.details(event))
    parent, before, after = _neighbours(timeline, event)
    return EventDetail(
        event,
        recording.names[events.name[event]],
        EventKind(int(events.kind[event])),
        int(events.start[event]),
        int(events.duration[event]),
        int(timeline.nesting.self_time[event]),
        recording.lanes[events.lane[event]],
        int(events.device[event]),
        int(events.run[event]),
        op=recording.ops.name[op] if op >= 0 else "",
        module=_module(timeline, op),
        category=_entry(places.categories, places.category[op]) if op >= 0 else "",
        scope=_entry(places.scopes, places.scope[op]) if op >= 0 else "",
        span=_span(timeline, op),
        row=int(places.row[op]) if op >= 0 else NONE,
        partner=_partner(timeline, event),
        parent=parent,
        before=before,
        after=after,
        fields=fields,
        fields_left_out=left_out,
    )


def _entry(texts: tuple[str, ...], code: Any) -> str:
    return texts[code] if 0 <= code < len(texts) else ""


def _module(timeline: Timeline, op: int) -> str:
    modules = timeline.recording.modules
    module = int(timeline.recording.ops.module[op]) if op >= 0 else NONE
    return modules[module].name if 0 <= module < len(modules) else ""


def _span(timeline: Timeline, op: int) -> SourceSpan | None:
    places = timeline.places
    frame = int(counted_frames(places)[op]) if op >= 0 else NONE
    return places.frames.span(frame, inferred=bool(places.inferred[op])) if frame >= 0 else None


def _lane_bounds(timeline: Timeline, event: int) -> tuple[int, int]:
    lanes = timeline.columns.lane
    lane = lanes[event]
    return int(np.searchsorted(lanes, lane, "left")), int(np.searchsorted(lanes, lane, "right"))


def _neighbours(timeline: Timeline, event: int) -> tuple[int, int, int]:
    """The event that it is nested in, and those of its lane that end before it and begin after it."""
    events, (first, last) = timeline.columns, _lane_bounds(timeline, event)
    start, end = events.start[event], events.end[event]
    earlier = np.flatnonzero(events.end[first:event] <= start)
    later = event + 1 + int(np.searchsorted(events.start[event + 1 : last], max(end, start + 1)))
    return (
        int(timeline.nesting.parent[event]),
        first + int(earlier[-1]) if len(earlier) else NONE,
        later if later < last else NONE,
    )


def _partner(timeline: Timeline, event: int) -> Partner | None:
    events, lanes = timeline.columns, timeline.recording.lanes
    if not (correlation := int(events.correlation[event])):
        return None
    same = np.flatnonzero(events.correlation == correlation)
    is_launch = events.kind[same] == EventKind.LAUNCH
    others = same[~is_launch] if events.kind[event] == EventKind.LAUNCH else same[is_launch]
    if not len(others):
        return None
    other = int(others[np.argmin(events.start[others])])
    launch, work = (event, other) if events.kind[event] == EventKind.LAUNCH else (other, event)
    one_clock = lanes[events.lane[launch]].host == lanes[events.lane[work]].host
    latency = int(events.start[work] - events.start[launch]) if one_clock else None
    return Partner(other, len(others) - 1, latency)


def _fields(raw: Mapping[str, Any]) -> tuple[tuple[DetailField, ...], int]:
    shown = []
    for name, value in list(raw.items())[:MOST_FIELDS]:
        text = f"{len(value):,} bytes" if isinstance(value, bytes | bytearray) else str(value)
        shown.append(DetailField(str(name)[:LONGEST_NAME], text[:LONGEST_VALUE], doubts(str(name), text)))
    return tuple(shown), max(0, len(raw) - MOST_FIELDS)


MOST_THREADS = 1024
"""Threads of a block: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"; HIP too."""
_MOST: dict[str, float] = {
    "regs": 1024,
    "registers_per_thread": 1024,
    "static_shared": 1 << 20,
    "dynamic_shared": 1 << 20,
    "shm": 1 << 20,
    "shared_memory": 1 << 20,
    "group_mem": 1 << 20,
    "occ_pct": 100,
    "theoretical_occupancy_pct": 100,
}
"""The most that any device on the market has: 255 registers a thread (CUDA) and 512 (CDNA), 228 KiB shared memory."""


def doubts(name: str, value: Any) -> tuple[str, ...]:
    """The parts of a field that cannot be true, such as "regs:2191500840"; none where all of it can be.

    Real profiles hold garbage, such as `regs:2191500840` in the kernel details of an AMD profile.
    """
    return tuple(part for part, key, text in _parts(name, value) if _is_impossible(key, text))


def _parts(name: str, value: Any) -> Iterator[tuple[str, str, str]]:
    """The field as a whole, and each `key:value` of a text that lists several."""
    whole = str(value)[:4000]
    yield whole, name, whole
    for part in whole.split():
        key, colon, text = part.partition(":")
        if colon:
            yield part, key, text


def _is_impossible(name: str, text: str) -> bool:
    key = name.strip().lower().replace(" ", "_")
    if key == "block":
        sizes = _whole_numbers(text)
        return bool(sizes) and (min(sizes) < 1 or _product(sizes) > MOST_THREADS)
    if key not in _MOST:
        return False
    try:
        return not 0 <= float(text) <= _MOST[key]
    except ValueError:
        return False


def _whole_numbers(text: str) -> list[int]:
    parts = text.strip("[]()").split(",")
    return [int(part) for part in parts if part.strip().isdecimal() and len(part) < 20]


def _product(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
