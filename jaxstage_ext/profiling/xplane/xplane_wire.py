"""The parts of an XSpace, the profile format of XLA, read from its bytes: planes, lines, tables of names.

Format: https://github.com/openxla/xla/blob/main/third_party/tsl/tsl/profiler/protobuf/xplane.proto
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.ir.wire import long_message, protowire
from jaxstage_ext.ir.wire.long_message import DELIMITED, FIXED64, VARINT, FieldRows
from jaxstage_ext.ir.wire.protowire import Bytes, Field, Longs

MOST_PLANES = 10_000
MOST_LINES = 100_000
"""Planes and lines of a profile that are read; those that a profiler writes have fewer than a thousand."""


@dataclass(frozen=True, eq=False)
class Wire:
    """The bytes of a profile."""

    raw: bytes = field(repr=False)
    """The bytes, then the padding that `protowire` needs."""
    size: int
    """Of the bytes without the padding."""

    @classmethod
    def of(cls, data: bytes) -> Wire:
        """The bytes of a file."""
        return cls(data + protowire.PADDING, len(data))

    @cached_property
    def data(self) -> Bytes:
        """The bytes as an array, without a copy."""
        return np.frombuffer(self.raw, np.uint8)

    def fields(self, start: int, end: int) -> FieldRows:
        """The fields of the message at [start, end); ValueError where it is malformed."""
        return long_message.fields(self.raw, self.data, start, end)

    def whole_fields(self, start: int, end: int) -> FieldRows:
        """The fields of the message at [start, end) before the first that is malformed."""
        return long_message.whole_fields(self.raw, self.data, start, end)[0]

    def messages(self, of: FieldRows, number: int) -> list[FieldRows]:
        """The fields of each message of a repeated field."""
        return [self.fields(*span) for span in of.spans(number)]

    def text(self, of: FieldRows, number: int) -> str:
        """A string field; bytes that are not UTF-8 are replaced."""
        return of.content(self.raw, number).decode("utf-8", "replace")

    def texts(self, of: FieldRows, number: int) -> list[str]:
        """A repeated string field."""
        return [self.raw[start:end].decode("utf-8", "replace") for start, end in of.spans(number)]


@dataclass(frozen=True, eq=False)
class EventName:
    """What a plane says of all events of one name."""

    name: str
    """As the profile shows it."""
    display: str
    """A shorter name, "" where it has none."""
    stats: tuple[tuple[int, int], ...]
    """Where its own stats are, as (start, end)."""


@dataclass(frozen=True, eq=False)
class PlaneLine:
    """A line of a plane: its events and the time, in nanoseconds, that their offsets count from."""

    name: str
    timestamp: int
    events: FieldRows


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane: a device, or a host."""

    wire: Wire
    name: str
    parts: FieldRows

    @cached_property
    def lines(self) -> tuple[PlaneLine, ...]:
        """Its lines; the name that is shown is preferred."""
        return tuple(self._line(line) for line in self.wire.messages(self.parts, 3))

    def _line(self, line: FieldRows) -> PlaneLine:
        name = self.wire.text(line, 11) or self.wire.text(line, 2)
        return PlaneLine(name, line.integer(3), line.of(4))

    @cached_property
    def stat_names(self) -> dict[int, str]:
        """Names of stats, which are also the strings that stats refer to, by id."""
        keys, values = self._entries(5)
        names = _texts(self.wire, protowire.read(self.wire.data, *values, (2,), (2,))[2], len(keys))
        return dict(zip(keys.tolist(), names, strict=True))

    @cached_property
    def event_names(self) -> dict[int, EventName]:
        """Names of events by id."""
        keys, values = self._entries(4)
        fields = protowire.read(self.wire.data, *values, (2, 4, 5), (2, 4, 5))
        stats: list[list[tuple[int, int]]] = [[] for _ in range(len(keys))]
        for row, at, size in _spans(fields[5]):
            stats[row].append((at, at + size))
        names, display = (_texts(self.wire, fields[number], len(keys)) for number in (2, 4))
        rows = zip(names, display, map(tuple, stats), strict=True)
        return {key: EventName(*row) for key, row in zip(keys.tolist(), rows, strict=True)}

    def _entries(self, number: int) -> tuple[Longs, tuple[Longs, Longs]]:
        """The keys of a map, and where its values begin and end."""
        rows = self.parts.of(number)
        entries = protowire.read(self.wire.data, rows.offset, rows.offset + rows.size, (1, 2), (2,))
        key, start, size = np.zeros((3, len(rows.offset)), np.int64)
        key[entries[1].row] = entries[1].value
        start[entries[2].row], size[entries[2].row] = entries[2].offset, entries[2].size
        return key, (start, start + size)

    def stats(self, spans: Iterable[tuple[int, int]]) -> dict[str, Any]:
        """The values of the stats at these places, by name; the last of a name wins, malformed ones are left out."""
        found: dict[str, Any] = {}
        for span in spans:
            with contextlib.suppress(ValueError):
                name, value = self.stat(self.wire.fields(*span))
                found[name] = value
        return found

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The stats of the plane itself."""
        return self.stats(self.parts.spans(6))

    def stat(self, of: FieldRows) -> tuple[str, Any]:
        """A stat's name and value; the value is None where the profile holds none."""
        identity = of.integer(1)
        name = self.stat_names.get(identity, f"stat {identity}")
        for row in reversed(range(len(of.number))):
            number, value = int(of.number[row]), int(of.value[row])
            if number in (3, 4, 7) and of.wire[row] == VARINT:
                return name, self._number(number, value)
            if (number, int(of.wire[row])) in ((2, FIXED64), (5, DELIMITED), (6, DELIMITED)):
                return name, self._content(of, row, number)
        return name, None

    def _number(self, number: int, value: int) -> Any:
        if number == 7:
            return self.stat_names.get(value, "")
        return value if number == 4 else value % 2**64

    def _content(self, of: FieldRows, row: int, number: int) -> Any:
        start = int(of.offset[row])
        if number == 2:
            return float(np.frombuffer(self.wire.raw, "<f8", 1, start)[0])
        content = self.wire.raw[start : start + int(of.size[row])]
        return content.decode("utf-8", "replace") if number == 5 else content


def planes(wire: Wire) -> tuple[list[Plane], list[str], FieldRows]:
    """(the planes that are whole, what is wrong with the others, the fields of the XSpace).

    Raises ValueError where the bytes are not an XSpace.
    """
    top, cut = _top(wire)
    whole, wrong = [], [cut] if cut else []
    spans, room = top.spans(1), MOST_LINES
    if len(spans) > MOST_PLANES:
        raise ValueError(f"it has {len(spans):,} planes, and {MOST_PLANES:,} is the most that is read")
    for at, end in spans:
        try:
            parts = wire.fields(at, end)
            room -= len(parts.of(3).offset)
            if room < 0:
                raise ValueError(f"the profile has more than {MOST_LINES:,} lines")
            plane = Plane(wire, wire.text(parts, 2), parts)
            _ = plane.lines, plane.stat_names, plane.event_names, plane.facts
            whole.append(plane)
        except ValueError as e:
            wrong.append(f"the plane at byte {at}: {e}")
    return whole, wrong, top


def _top(wire: Wire) -> tuple[FieldRows, str]:
    try:
        return wire.fields(0, wire.size), ""
    except ValueError as e:
        fields, end = long_message.whole_fields(wire.raw, wire.data, 0, wire.size)
        if not end:
            raise
        return fields, f"it is cut or damaged at byte {end}: {e}"


def _spans(field: Field) -> Iterable[tuple[int, int, int]]:
    return zip(field.row.tolist(), field.offset.tolist(), field.size.tolist(), strict=True)


def _texts(wire: Wire, field: Field, rows: int) -> list[str]:
    return [text.decode("utf-8", "replace") for text in protowire.strings(wire.raw, field, rows)]
