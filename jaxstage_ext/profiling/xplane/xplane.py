"""Reads XLA's own profiles, `.xplane.pb`, into a `Recording`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling import most_events
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.profiling.xplane import command_buffers, launched_runs, nested_compiles
from jaxstage_ext.profiling.xplane.xplane_details import EventDetails
from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents, events_of
from jaxstage_ext.profiling.xplane.xplane_lanes import lanes_of
from jaxstage_ext.profiling.xplane.xplane_losses import losses, reported
from jaxstage_ext.profiling.xplane.xplane_modules import named_ops
from jaxstage_ext.profiling.xplane.xplane_names import numbered_names
from jaxstage_ext.profiling.xplane.xplane_order import in_order, used_lanes
from jaxstage_ext.profiling.xplane.xplane_runs import numbered_runs
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
from jaxstage_ext.profiling.xplane.xplane_times import clock_of
from jaxstage_ext.profiling.xplane.xplane_tpu import completed
from jaxstage_ext.profiling.xplane.xplane_wire import Plane, Wire, planes
from jaxstage_ext.report.recording import DEVICE_WORK, NONE, Events, Loss, Lost, Recording

_NOT_A_PROFILE = "{title} is not an xplane profile: {why}. Open the .xplane.pb that the profiler wrote."


def read(data: bytes, title: str) -> Recording:
    """The recording in an `.xplane.pb`.

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
    return _recording(whole, lost, tuple(wire.texts(top, 4)) or ("",), title)


def _recording(whole: Sequence[Plane], lost: list[Lost], hosts: tuple[str, ...], title: str) -> Recording:
    strings = Strings({})
    read = [completed(plane, events_of(plane, strings), strings) for plane in whole]
    lost += launched_runs.unfinished(whole, read)
    events = [launched_runs.without_own(plane, of, strings) for plane, of in zip(whole, read, strict=True)]
    most_events.check(sum(len(of.line) for of in events), title)
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
    columns = replace(columns, kind=nested_compiles.marked(columns))
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
