"""Recordings with further lanes: what was noted beside the profile, on its clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.recording import NANOSECOND, NONE, EventKind, EventLane, Events, HostLine, Index, Recording


@dataclass(frozen=True, eq=False)
class AddedLane:
    """A lane of host events to add."""

    lane: EventLane
    kind: EventKind
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    """`start`, `end`: Unix time in nanoseconds, by start."""
    name: Index
    """Index into `names`, of each event."""
    names: Sequence[str]
    host_lines: Mapping[int, HostLine] = field(default_factory=dict)
    """The line of Python that a name stands for, by its index."""


def with_lanes(recording: Recording, added: Sequence[AddedLane]) -> Recording:
    """The recording with these lanes after its own; the same one where its clock is unknown or nothing was noted."""
    added = [lane for lane in added if len(lane.start)]
    if recording.origin is None or not added:
        return recording
    parts, names, host_lines = [recording.events], list(recording.names), dict(recording.host_lines)
    for number, lane in enumerate(added, len(recording.lanes)):
        parts.append(_events(lane, number, len(names), recording.origin))
        host_lines |= {len(names) + index: line for index, line in lane.host_lines.items()}
        names += lane.names
    lost = sum(map(len, parts[1:]))
    return replace(
        recording,
        lanes=(*recording.lanes, *(lane.lane for lane in added)),
        names=tuple(names),
        events=_joined(parts),
        total=recording.total + lost,
        details=_details(recording),
        host_lines=host_lines,
    )


def _events(added: AddedLane, lane: int, first_name: int, origin: int) -> Events:
    count, start = len(added.start), np.maximum(added.start - origin, 0)
    none = np.full(count, NONE, np.int32)
    order = np.lexsort((-(added.end - added.start), start))
    return Events(
        start=start[order] * NANOSECOND,
        duration=np.maximum(added.end - origin - start, 0)[order] * NANOSECOND,
        lane=np.full(count, lane, np.int32),
        name=(added.name[order] + first_name).astype(np.int32),
        kind=np.full(count, added.kind, np.uint8),
        op=none,
        device=none,
        run=none,
        correlation=np.zeros(count, np.int64),
    )


def _joined(parts: Sequence[Events]) -> Events:
    columns = {
        each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Events) if each.init
    }
    return Events(**columns)


def _details(recording: Recording) -> _OwnDetails:
    return _OwnDetails(recording)


@dataclass(frozen=True, eq=False)
class _OwnDetails:
    """The profile's fields of the profile's own events, which come first; none for those that were added."""

    recording: Recording

    def __call__(self, event: int) -> Mapping[str, object]:
        return self.recording.details(event) if event < len(self.recording.events) else {}
