"""The events of a plane as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.protowire import Bytes, Longs
from jaxstage_ext.profiling.xplane.xplane_stats import STATS, Strings, WantedStats
from jaxstage_ext.profiling.xplane.xplane_wire import Plane

_CHUNK = 1 << 15
"""Events decoded at once, so that what is in between stays small."""
_RETRIES = 1000
"""Malformed pieces that are searched for readable events; what is malformed after them is left out whole."""


@dataclass(frozen=True, eq=False)
class PlaneEvents:
    """The readable events of a plane, line by line in the order of the bytes."""

    line: Longs
    """Index into the plane's lines."""
    metadata: Longs
    """Id of the event's name."""
    offset: Longs
    """In picoseconds since the line's timestamp."""
    duration: Longs
    """In picoseconds."""
    position: Longs
    size: Longs
    """`position`, `size`: the bytes of the event."""
    stats: Longs
    """(stats wanted, events) values."""
    unreadable: dict[int, int]
    """Events by line that are malformed."""


def events_of(plane: Plane, strings: Strings) -> PlaneEvents:
    """Reads all events of a plane."""
    data, wanted = plane.wire.data, WantedStats(plane, strings)
    counts = [len(line.events.offset) for line in plane.lines]
    line = np.repeat(np.arange(len(counts)), counts)
    start = _joined([line.events.offset for line in plane.lines])
    end = start + _joined([line.events.size for line in plane.lines])
    parts, kept = [], []
    retries = [_RETRIES]
    for chosen in (np.arange(at, min(at + _CHUNK, len(start))) for at in range(0, len(start), _CHUNK)):
        for good, part in _readable(data, wanted, start, end, chosen, retries):
            kept.append(good)
            parts.append(part)
    rows = _joined(kept)
    table = np.concatenate(parts, axis=1) if parts else np.zeros((3 + len(STATS), 0), np.int64)
    missing = np.bincount(line, minlength=len(counts)) - np.bincount(line[rows], minlength=len(counts))
    unreadable = {int(n): int(missing[n]) for n in np.flatnonzero(missing)}
    return PlaneEvents(
        line[rows], table[0], table[1], table[2], start[rows], (end - start)[rows], table[3:], unreadable
    )


def _readable(
    data: Bytes, wanted: WantedStats, start: Longs, end: Longs, rows: Longs, retries: list[int]
) -> Iterator[tuple[Longs, Longs]]:
    """(rows, their columns), in order; malformed events are searched for by halving."""
    try:
        part = _columns(data, wanted, start[rows], end[rows])
    except (ValueError, IndexError):
        retries[0] -= 1
        if len(rows) > 1 and retries[0] > 0:
            for half in np.array_split(rows, 2):
                yield from _readable(data, wanted, start, end, half, retries)
        return
    yield rows, part


def _columns(data: Bytes, wanted: WantedStats, start: Longs, end: Longs) -> Longs:
    fields = protowire.read(data, start, end, (1, 2, 3, 4), delimited=(4,))
    table = np.zeros((3 + len(STATS), len(start)), np.int64)
    for row, number in enumerate((1, 2, 3)):
        table[row, fields[number].row] = fields[number].value
    table[3:] = wanted.read(data, fields[4], len(start))
    return table


def _joined(parts: list[Longs]) -> Longs:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
