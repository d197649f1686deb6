"""Recordings made by hand, for tests that know the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.report.recording import (
    NONE,
    EventKind,
    EventLane,
    Events,
    LaneKind,
    Lost,
    Ops,
    RecordedModule,
    Recording,
)

MICROSECOND = 10**6


@dataclass(frozen=True)
class Event:
    """One event, in microseconds; `op` is (module, instruction)."""

    lane: str
    name: str
    start: float
    duration: float
    kind: EventKind = EventKind.OP
    op: tuple[str, str] | None = None
    device: int = 0
    run: int = 0
    correlation: int = 0


def recording(
    events: Sequence[Event], lanes: Sequence[EventLane] = (), lost: Sequence[Lost] = (), **fields: Any
) -> Recording:
    """The recording of these events; a lane that is not given by its name is one of GPU 0."""
    known = {lane.name: lane for lane in lanes}
    for event in events:
        known.setdefault(event.lane, EventLane("GPU 0", event.lane, LaneKind.COMPUTE, 0))
    lane_names = list(known)
    names, modules, ops = _numbers(), _numbers(), _numbers()
    ordered = sorted(events, key=lambda e: (lane_names.index(e.lane), e.start, -e.duration))
    columns = Events(
        start=np.array([round(e.start * MICROSECOND) for e in ordered], np.int64),
        duration=np.array([round(e.duration * MICROSECOND) for e in ordered], np.int64),
        lane=np.array([lane_names.index(e.lane) for e in ordered], np.int32),
        name=np.array([names(e.name) for e in ordered], np.int32),
        kind=np.array([e.kind for e in ordered], np.uint8),
        op=np.array([NONE if e.op is None else ops((modules(e.op[0]), e.op[1])) for e in ordered], np.int32),
        device=np.array([e.device for e in ordered], np.int32),
        run=np.array([e.run for e in ordered], np.int32),
        correlation=np.array([e.correlation for e in ordered], np.int64),
    )
    pairs: list[tuple[int, str]] = ops.values()
    return Recording(
        title=fields.pop("title", "made by hand"),
        format=fields.pop("format", "xplane"),
        lanes=tuple(known.values()),
        names=tuple(names.values()),
        events=columns,
        ops=Ops(np.array([module for module, _ in pairs], np.int32), tuple(name for _, name in pairs)),
        modules=tuple(RecordedModule(name) for name in modules.values()),
        lost=tuple(lost),
        total=fields.pop("total", len(ordered)),
        **fields,
    )


class _numbers:
    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def __call__(self, value: Any) -> int:
        return self._known.setdefault(value, len(self._known))

    def values(self) -> list[Any]:
        return list(self._known)
