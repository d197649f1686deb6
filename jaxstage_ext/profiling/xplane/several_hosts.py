"""The recordings of several hosts as one, with the lanes, devices and clocks of each kept apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.common_clock.clock_alignment import HostPlacement, apart
from jaxstage_ext.report.recording import Events, Lost, Ops, Recording

Column = npt.NDArray[Any]
_EARLIEST = np.iinfo(np.int64).min


def together(parts: Sequence[tuple[str, Recording]], title: str, placed: HostPlacement | None = None) -> Recording:
    """One recording of those of several hosts, given with their names; that of a single host is itself.

    Unless they are `placed`, every host's time 0 is its own start: their clocks differ by more than the events that one
    would compare. Devices keep their numbers, so that two hosts may each have a device 0: `EventLane.host` tells them
    apart.
    """
    if len(parts) == 1:
        return replace(parts[0][1], title=title)
    recordings = [recording for _, recording in parts]
    lanes, events = _Offsets(lambda r: len(r.lanes), recordings), _Offsets(lambda r: len(r.events), recordings)
    names, ops = _Offsets(lambda r: len(r.names), recordings), _Offsets(lambda r: len(r.ops), recordings)
    modules = _Offsets(lambda r: len(r.modules), recordings)
    runs = _Offsets(lambda r: _largest(r.events.run) + 1, recordings)
    launches = _Offsets(lambda r: _largest(r.events.correlation), recordings)

    def moved(name: str, by: Sequence[int], from_: int = 0) -> Column:
        columns = [(getattr(r.events, name), shift) for r, shift in zip(recordings, by, strict=True)]
        return np.concatenate([np.where(c >= from_, c + shift, c).astype(c.dtype) for c, shift in columns])

    placed = apart(recordings) if placed is None else placed
    unmoved = [0] * len(parts)
    return Recording(
        title=title,
        format=recordings[0].format,
        lanes=tuple(replace(lane, host=host) for host, r in enumerate(recordings) for lane in r.lanes),
        names=tuple(name for r in recordings for name in r.names),
        events=Events(
            start=moved("start", placed.later, _EARLIEST),
            duration=moved("duration", unmoved),
            lane=moved("lane", lanes.begin),
            name=moved("name", names.begin),
            kind=moved("kind", unmoved),
            op=moved("op", ops.begin),
            device=moved("device", unmoved),
            run=moved("run", runs.begin),
            correlation=moved("correlation", launches.begin, 1),
        ),
        ops=Ops(
            np.concatenate([r.ops.module + shift for r, shift in zip(recordings, modules.begin, strict=True)]).astype(
                np.int32
            ),
            tuple(name for r in recordings for name in r.ops.name),
            np.concatenate([r.ops.is_by_order for r in recordings]),
        ),
        modules=tuple(module for r in recordings for module in r.modules),
        counters=tuple(
            replace(c, lane=c.lane + shift, time=c.time + late)
            for r, shift, late in zip(recordings, lanes.begin, placed.later, strict=True)
            for c in r.counters
        ),
        lost=tuple(
            Lost(x.loss, x.count, f"{name}: {x.where}" if x.where else name) for name, r in parts for x in r.lost
        ),
        total=sum(r.total for r in recordings),
        details=lambda event: events.of(event),
        device_facts={group: facts for r in recordings for group, facts in r.device_facts.items()},
        hosts=tuple(name for name, _ in parts),
        clocks=placed.clocks,
        skews=placed.skews,
        no_skew=placed.no_skew,
        origin=placed.origin,
        host_lines={
            number + shift: line
            for r, shift in zip(recordings, names.begin, strict=True)
            for number, line in r.host_lines.items()
        },
    )


class _Offsets:
    """Where each recording's part of a column begins."""

    def __init__(self, size: Callable[[Recording], int], recordings: Sequence[Recording]) -> None:
        sizes = [size(recording) for recording in recordings]
        self.begin = [sum(sizes[:n]) for n in range(len(sizes))]
        self._recordings = recordings

    def of(self, event: int) -> Mapping[str, Any]:
        """The details of an event."""
        host = int(np.searchsorted(self.begin, event, side="right")) - 1
        return self._recordings[host].details(event - self.begin[host])


def _largest(column: Column) -> int:
    return int(column.max()) if len(column) else 0
