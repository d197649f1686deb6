"""The lanes of a plane: one for each stream of a device, up to three for each thread of a host."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling import event_kinds
from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents
from jaxstage_ext.profiling.xplane.xplane_stats import ABSENT, CORRELATION, OP, STEP
from jaxstage_ext.profiling.xplane.xplane_tpu import OP_LINES
from jaxstage_ext.profiling.xplane.xplane_wire import Plane
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind

_DEVICE = re.compile(r"/device:([A-Za-z]+):(\d{1,9})")
_COPIES = re.compile(r"Stream [^(]{0,40}\((Mem\w{1,40},?){1,20}\)")
"""A stream that only copies: the profile lists the types of its events."""
_LINES = {
    "Steps": (LaneKind.STEPS, EventKind.STEP),
    "XLA Modules": (LaneKind.MODULES, EventKind.MODULE),
    "XLA Ops": (LaneKind.OPS, EventKind.OP),
    "Async XLA Ops": (LaneKind.OPS, EventKind.OP),
}
"""The lines of a device that are no streams; those not listed repeat its events by scope or source line."""
_OTHERS = (LaneKind.HOST, EventKind.RANGE)
_HOST_LANES, _OPS, _INTERNAL = 3, 1, 2
"""Lanes of a thread: its events, the HLO ops that it ran, and events internal to the profiler and the runtime."""


@dataclass(frozen=True, eq=False)
class PlaneLanes:
    """The lanes of a plane and its group, the lane and kind of each of its events, its device or NONE."""

    group: str
    lanes: tuple[EventLane, ...]
    lane: Longs
    kind: npt.NDArray[np.uint8]
    device: int


def lanes_of(plane: Plane, events: PlaneEvents) -> PlaneLanes:
    """Puts the events of a plane into lanes."""
    if match := _DEVICE.match(plane.name):
        return _device_lanes(plane, events, match[1], int(match[2]))
    return _host_lanes(plane, events)


def _by_name(plane: Plane, events: PlaneEvents) -> tuple[list[str], Longs]:
    """(the distinct names of the events, which of them each event has)."""
    ids, which = np.unique(events.metadata, return_inverse=True)
    known = plane.event_names
    return [known[i].name if i in known else "" for i in ids.tolist()], which


def _host_lanes(plane: Plane, events: PlaneEvents) -> PlaneLanes:
    names, which = _by_name(plane, events)
    kind = np.array([event_kinds.on_host(name) for name in names], np.uint8)[which]
    compiling = np.array([bool(event_kinds.COMPILE_THREADS.search(line.name)) for line in plane.lines], bool)
    kind[(kind == EventKind.HOST) & compiling[events.line]] = EventKind.COMPILE
    kind[events.stats[STEP] != ABSENT] = EventKind.STEP
    ops = (events.stats[OP] != ABSENT) & (events.stats[CORRELATION] == ABSENT)
    kind[ops] = np.array([event_kinds.op_kind(name) for name in names], np.uint8)[which[ops]]
    internal = np.array([event_kinds.is_internal(name) for name in names], bool)[which] & ~ops
    part = np.where(ops, _OPS, np.where(internal, _INTERNAL, 0))
    lanes = [lane for line in plane.lines for lane in _thread(plane.name, line.name)]
    return PlaneLanes(plane.name, tuple(lanes), events.line * _HOST_LANES + part, kind, NONE)


def _thread(plane: str, name: str) -> tuple[EventLane, ...]:
    group = "host" if plane in ("/host:CPU", "") else plane.removeprefix("/host:")
    kind = LaneKind.PYTHON if name.startswith("python") else LaneKind.HOST
    return (
        EventLane(group, name, kind, hidden=name == ""),
        EventLane("CPU", name, LaneKind.OPS),
        EventLane(group, f"{name} (internal)", LaneKind.HOST, hidden=True),
    )


def _device_lanes(plane: Plane, events: PlaneEvents, platform: str, device: int) -> PlaneLanes:
    names, which = _by_name(plane, events)
    kind = np.array([event_kinds.on_device(name) for name in names], np.uint8)[which]
    group, lanes = _group(plane, platform, device), []
    for number, line in enumerate(plane.lines):
        mine = events.line == number
        if line.name.startswith("Stream"):
            lane_kind = _stream_kind(line.name, kind[mine])
            if lane_kind == LaneKind.COPY:
                kind[mine] = EventKind.COPY
        else:
            lane_kind, kind[mine] = _LINES.get(line.name, _OTHERS)
            if line.name in OP_LINES:
                kind[mine] = np.array([event_kinds.op_kind(name.lstrip("%")) for name in names], np.uint8)[which[mine]]
        lanes.append(EventLane(group, _lane_name(line.name), lane_kind, device, hidden=lane_kind == LaneKind.HOST))
    return PlaneLanes(group, tuple(lanes), events.line, kind, device)


def _stream_kind(name: str, kinds: npt.NDArray[np.uint8]) -> LaneKind:
    if _COPIES.fullmatch(name):
        return LaneKind.COPY
    for kind, lane in ((EventKind.COPY, LaneKind.COPY), (EventKind.COLLECTIVE, LaneKind.COLLECTIVE)):
        if len(kinds) and (kinds == kind).mean() > 0.5:
            return lane
    return LaneKind.COMPUTE


def _group(plane: Plane, platform: str, device: int) -> str:
    model = plane.facts.get("gpu_device_name") or plane.facts.get("device_type_string") or ""
    return f"{platform} {device} ({model})" if isinstance(model, str) and model else f"{platform} {device}"


def _lane_name(name: str) -> str:
    return name.replace("(", " (").replace("  (", " (")
