"""Reads one long protobuf message, whose repeated fields are too many to read in step."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np

from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.protowire import Bytes, Longs

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
"""Wire types."""


class FieldRows(NamedTuple):
    """The fields of one message in the order of the bytes."""

    number: Longs
    """Of the field."""
    wire: Longs
    """Its wire type."""
    value: Longs
    """Of a varint."""
    offset: Longs
    size: Longs
    """`offset`, `size`: where the content of a length-delimited field is."""

    def of(self, number: int, wire: int = DELIMITED) -> FieldRows:
        """The occurrences of one field; those of another wire type are unknown fields to protobuf and left out."""
        return FieldRows(*(column[(self.number == number) & (self.wire == wire)] for column in self))

    def spans(self, number: int) -> list[tuple[int, int]]:
        """(start, end) of each content of a length-delimited field."""
        rows = self.of(number)
        return list(zip(rows.offset.tolist(), (rows.offset + rows.size).tolist(), strict=True))

    def integer(self, number: int) -> int:
        """The last value of a varint field, 0 where it is absent."""
        values = self.of(number, VARINT).value
        return int(values[-1]) if len(values) else 0

    def content(self, raw: bytes, number: int) -> bytes:
        """The last content of a string or bytes field, b"" where it is absent."""
        rows = self.of(number)
        return raw[rows.offset[-1] : rows.offset[-1] + rows.size[-1]] if len(rows.offset) else b""


def fields(raw: bytes, data: Bytes, start: int, end: int) -> FieldRows:
    """The fields of the message at [start, end) of `raw`, which ends with `protowire.PADDING`.

    Raises ValueError with the byte at which the message is malformed.
    """
    starts, stop = _starts(raw, start, end)
    if stop != end:
        raise ValueError(f"the field at byte {starts[-1]} runs past the end of its message at byte {end}")
    return _rows(data, np.frombuffer(starts, np.int64))


def whole_fields(raw: bytes, data: Bytes, start: int, end: int) -> tuple[FieldRows, int]:
    """(the fields before the first that is malformed, where they end): what is left of a message that is cut."""
    starts, stop = _starts(raw, start, end, strict=False)
    if stop > end:
        stop = starts.pop()
    return _rows(data, np.frombuffer(starts, np.int64)), stop


def _rows(data: Bytes, at: Longs) -> FieldRows:
    tag, after = protowire.varints(data, at)
    wire = tag & 7
    value, content = protowire.varints(data, after)
    delimited = wire == DELIMITED
    size = np.where(delimited, value, 0)
    return FieldRows(tag >> 3, wire, value, np.where(delimited, content, after), size)


def _starts(raw: bytes, start: int, end: int, strict: bool = True) -> tuple[array[int], int]:
    """(where each field begins, where the last ends)."""
    found = array("q")
    add, at = found.append, start
    try:
        while at < end:
            add(at)
            if raw[at] & 0x87 == DELIMITED and (size := raw[at + 1]) < 0x80:
                at += 2 + size
            else:
                at = _next(raw, at)
    except ValueError:
        if strict:
            raise
        found.pop()
    return found, at


def _next(raw: bytes, start: int) -> int:
    tag, at = _varint(raw, start)
    wire = tag & 7
    if tag >> 3 == 0 or wire not in (VARINT, FIXED64, DELIMITED, FIXED32):
        raise ValueError(f"no protobuf field at byte {start}")
    if wire == FIXED64:
        return at + 8
    if wire == FIXED32:
        return at + 4
    value, at = _varint(raw, at)
    return at + value if wire == DELIMITED else at


def _varint(raw: bytes, start: int) -> tuple[int, int]:
    value = 0
    for n, byte in enumerate(raw[start : start + 10]):
        value |= (byte & 0x7F) << 7 * n
        if byte < 0x80:
            return value, start + n + 1
    raise ValueError(f"no varint at byte {start}")
