"""The order of a recording's lanes and events."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling.xplane.xplane_times import EventTimes
from jaxstage_ext.report.recording import EventLane, LaneKind

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
