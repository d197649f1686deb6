"""Profiles of any size: a captured one whose events are repeated, later and later, in the wire format."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.profiling.xplane.xplane_wire import Wire

_PLANES, _LINES, _EVENTS, _OFFSET = 1, 3, 4, 2
_APART = 60 * 10**12
"""Picoseconds between repetitions."""


def varint(value: int) -> bytes:
    """A varint of the wire format; negative numbers as int64."""
    value, parts = value % 2**64, bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def delimited(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def repeated(data: bytes, events: int) -> bytes:
    """The profile with each line's events repeated until there are at least so many."""
    wire = Wire.of(data)
    spans = wire.fields(0, wire.size).spans(_PLANES)
    lines = [wire.fields(*line) for plane in spans for line in wire.fields(*plane).spans(_LINES)]
    times = -(-events // sum(len(line.spans(_EVENTS)) for line in lines))
    return b"".join(delimited(_PLANES, _plane(wire, span, times)) for span in spans)


def _plane(wire: Wire, span: tuple[int, int], times: int) -> bytes:
    parts, at = [], span[0]
    for start, end in wire.fields(*span).spans(_LINES):
        head = start - len(varint(end - start)) - 1
        parts += [wire.raw[at:head], delimited(_LINES, _line(wire, (start, end), times))]
        at = end
    return b"".join([*parts, wire.raw[at : span[1]]])


def _line(wire: Wire, span: tuple[int, int], times: int) -> bytes:
    of = wire.fields(*span).of(_EVENTS)
    offset = np.zeros(len(of.offset), np.int64)
    field = protowire.read(wire.data, of.offset, of.offset + of.size, (_OFFSET,))[_OFFSET]
    offset[field.row] = field.value
    events = [wire.raw[a:b] for a, b in wire.fields(*span).spans(_EVENTS)]
    later = [
        delimited(_EVENTS, event + bytes([_OFFSET << 3]) + varint(at + n * _APART))
        for n in range(1, times)
        for event, at in zip(events, offset.tolist(), strict=True)
    ]
    return wire.raw[slice(*span)] + b"".join(later)
