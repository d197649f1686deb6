"""Reads XLA's own profiles, `.xplane.pb`, into a `Recording`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling import unreadable
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.profiling.xplane import command_buffers, xplane_losses
from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents, events_of
from jaxstage_ext.profiling.xplane.xplane_lanes import lanes_of
from jaxstage_ext.profiling.xplane.xplane_losses import losses, reported
from jaxstage_ext.profiling.xplane.xplane_modules import named_ops
from jaxstage_ext.profiling.xplane.xplane_stats import (
    ABSENT,
    CORRELATION,
    DEVICE,
    MODULE,
    NODE,
    OP,
    PROGRAM,
    RUN,
    Strings,
)
from jaxstage_ext.profiling.xplane.xplane_times import EventTimes, clock_of
from jaxstage_ext.profiling.xplane.xplane_tpu import completed
from jaxstage_ext.profiling.xplane.xplane_wire import EventName, Plane, Wire, planes
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import (
    DEVICE_WORK,
    NONE,
    EventKind,
    EventLane,
    Events,
    Index,
    LaneKind,
    Loss,
    Lost,
    Recording,
)

_NOT_A_PROFILE = "{title} is not an xplane profile: {why}. Open the .xplane.pb that the profiler wrote."


def read(data: bytes, title: str, finds_instructions: bool = True) -> Recording:
    """The recording in an `.xplane.pb`.

    `finds_instructions` says whether kernels that the profile names no instruction of are looked for in its modules.

    Raises:
      UnreadableProfile: where the bytes are no XSpace, with the byte at which they stop being one. What is readable
        of a damaged profile is a recording whose `lost` says what is not.
    """
    if not data:
        raise UnreadableProfile(_NOT_A_PROFILE.format(title=title, why="it is empty"))
    wire = Wire.of(data)
    try:
        whole, wrong, top = planes(wire)
    except ValueError as e:
        raise UnreadableProfile(_NOT_A_PROFILE.format(title=title, why=str(e))) from e
    if not any(plane.name for plane in whole):
        raise UnreadableProfile(_NOT_A_PROFILE.format(title=title, why="; ".join(wrong) or "it has no planes"))
    lost = [Lost(Loss.UNREADABLE, None, where) for where in wrong]
    lost += reported([*wire.texts(top, 2), *wire.texts(top, 3)], whole)
    return _recording(whole, lost, tuple(wire.texts(top, 4)) or ("",), title, finds_instructions)


def _recording(
    whole: Sequence[Plane], lost: list[Lost], hosts: tuple[str, ...], title: str, finds_instructions: bool
) -> Recording:
    strings = Strings({})
    read = [completed(plane, events_of(plane, strings), strings) for plane in whole]
    lost += xplane_losses.unfinished(whole, read)
    events = [xplane_losses.without_own(plane, of, strings) for plane, of in zip(whole, read, strict=True)]
    unreadable.check_event_count(sum(len(of.line) for of in events), title)
    lanes = [lanes_of(plane, of) for plane, of in zip(whole, events, strict=True)]
    clock = clock_of(whole)
    stats = np.concatenate([of.stats for of in events], axis=1)
    times = clock.times(_timestamps(whole, events), _column(events, "offset"), _column(events, "duration"))
    ordered, lane = used_lanes([of.lanes for of in lanes], [of.lane for of in lanes], times.absurd)
    rows = in_order(lane, len(ordered), times)
    stats = stats[:, rows]
    names, name = numbered_names(whole, events)
    plane = np.repeat(np.arange(len(whole)), [len(of.line) for of in events])
    kind = np.concatenate([of.kind for of in lanes])[rows]
    stats[OP, ~np.isin(kind, DEVICE_WORK)] = ABSENT
    named = named_ops(whole, stats[[OP, MODULE, PROGRAM]], list(strings.index))
    if finds_instructions:
        named = command_buffers.resolved(named, stats[NODE], name[rows].astype(np.int32), names, times.start[rows])
    fixed_device = np.array([of.device for of in lanes], np.int64)[plane[rows]]
    columns = Events(
        start=times.start[rows],
        duration=times.duration[rows],
        lane=lane[rows].astype(np.int32),
        name=name[rows].astype(np.int32),
        kind=kind,
        op=named.op,
        device=np.where(fixed_device != NONE, fixed_device, _or(stats[DEVICE], NONE)).astype(np.int32),
        run=numbered_runs(stats[RUN], times.start[rows]),
        correlation=_or(stats[CORRELATION], 0),
    )
    columns = replace(columns, kind=nested_compiles_marked(columns))
    lost += losses(whole, events, times)
    return Recording(
        title,
        "xplane",
        ordered,
        names,
        columns,
        named.ops,
        named.modules,
        lost=tuple(lost),
        origin=clock.origin,
        total=len(plane) + sum(sum(of.unreadable.values()) for of in events),
        details=EventDetails(whole, plane[rows], _column(events, "position")[rows], _column(events, "size")[rows]),
        device_facts={of.group: p.facts for p, of in zip(whole, lanes, strict=True) if of.device != NONE},
        hosts=hosts[:1],
    )


def _column(events: Sequence[PlaneEvents], name: str) -> Longs:
    return np.concatenate([getattr(of, name) for of in events])


def _timestamps(whole: Sequence[Plane], events: Sequence[PlaneEvents]) -> Longs:
    stamps = [np.array([line.timestamp for line in plane.lines], np.int64) for plane in whole]
    return np.concatenate([stamp[of.line] for stamp, of in zip(stamps, events, strict=True)])


def _or(values: Longs, otherwise: int) -> Longs:
    return np.where(values == ABSENT, otherwise, values)


def nested_compiles_marked(events: Events) -> npt.NDArray[np.uint8]:
    """The kinds of the events, where those of kind HOST within an event of kind COMPILE on their lane are COMPILE."""
    kind = events.kind.copy()
    for lane in np.unique(events.lane[kind == EventKind.COMPILE]).tolist():
        mine = slice(*np.searchsorted(events.lane, (lane, lane + 1)))
        end = events.end[mine]
        reach = np.maximum.accumulate(np.where(kind[mine] == EventKind.COMPILE, end, -1))
        inside = (kind[mine] == EventKind.HOST) & (end <= reach)
        kind[mine] = np.where(inside, EventKind.COMPILE, kind[mine])
    return kind


class EventDetails:
    """Reads the stats of an event, by its index in the recording."""

    def __init__(self, planes: Sequence[Plane], plane: Longs, position: Longs, size: Longs) -> None:
        self._planes, self._position, self._size = planes, position, size.astype(np.int32)
        self._plane = plane.astype(np.int16 if len(planes) < 1 << 15 else np.int32)

    def __call__(self, event: int) -> dict[str, Any]:
        """The stats of an event and of its name; the event's own win, and malformed ones are left out."""
        plane, at = self._planes[int(self._plane[event])], int(self._position[event])
        parts = plane.wire.whole_fields(at, at + int(self._size[event]))
        name = plane.event_names.get(parts.integer(1))
        return plane.stats([*(name.stats if name else ()), *parts.spans(4)])


UNNAMED = "(no name)"
"""The name of an event whose own the profile does not define."""


def numbered_names(planes: Sequence[Plane], events: Sequence[PlaneEvents]) -> tuple[tuple[str, ...], Longs]:
    """(the names, the name of each event)."""
    numbers = Numbering[str]()
    parts = [np.zeros(0, np.int64)]
    for plane, of in zip(planes, events, strict=True):
        ids, which = np.unique(of.metadata, return_inverse=True)
        known = plane.event_names
        names = [_shown(known[i]) if i in known else UNNAMED for i in ids.tolist()]
        parts.append(np.array([numbers[name] for name in names], np.int64)[which])
    return tuple(numbers), np.concatenate(parts)


def _shown(name: EventName) -> str:
    """Its name; an HLO instruction whose name is its whole text has a shorter one to be displayed."""
    return (name.display if name.display and name.name.startswith("%") else name.name) or UNNAMED


def numbered_runs(run: Longs, start: Longs) -> Index:
    """The number of the execution that each event belongs to, in the order in which they begin; NONE where unknown."""
    result = np.full(len(run), NONE, np.int32)
    known = np.flatnonzero(run != ABSENT)
    distinct, which = np.unique(run[known], return_inverse=True)
    first = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(first, which, start[known])
    number = np.empty(len(distinct), np.int32)
    number[np.argsort(first, kind="stable")] = np.arange(len(distinct), dtype=np.int32)
    result[known] = number[which]
    return result


_KINDS = {kind: position for position, kind in enumerate(LaneKind)}


def used_lanes(
    lanes: Sequence[Sequence[EventLane]], lane: Sequence[Longs], absurd: npt.NDArray[np.bool_]
) -> tuple[tuple[EventLane, ...], Longs]:
    """(the lanes that have events, devices first; the lane of each event), from those of each plane."""
    every = [one for part in lanes for one in part]
    first = np.cumsum([0, *map(len, lanes)])
    index = np.concatenate([of + at for of, at in zip(lane, first, strict=False)])
    counts = np.bincount(index[~absurd], minlength=len(every))
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda n: _rank(every[n]))
    number = np.full(len(every), -1, np.int64)
    number[order] = np.arange(len(order))
    return tuple(every[n] for n in order), number[index]


def _rank(lane: EventLane) -> tuple[object, ...]:
    on_host = lane.kind in (LaneKind.HOST, LaneKind.PYTHON) or lane.group == "host"
    return (on_host, natural(lane.group), lane.hidden, _KINDS[lane.kind], natural(lane.name))


def natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts "GPU 10" after "GPU 9"."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]{1,18})", text)]


def in_order(lane: Longs, lanes: int, times: EventTimes) -> Longs:
    """The rows of the events that are shown, sorted by lane, then start, then longest first."""
    rows: Longs = np.flatnonzero(~times.absurd)
    key = lane[rows].astype(np.uint16) if lanes < 1 << 16 else lane[rows]
    rows = rows[np.argsort(key, kind="stable")]
    if not _sorted(lane[rows], times.start[rows], times.duration[rows]):
        rows = rows[np.lexsort((-times.duration[rows], times.start[rows], lane[rows]))]
    return rows


def _sorted(lane: Longs, start: Longs, duration: Longs) -> bool:
    later, same = np.diff(start), np.diff(lane) == 0
    wrong = same & ((later < 0) | ((later == 0) & (np.diff(duration) > 0)))
    return not wrong.any()
