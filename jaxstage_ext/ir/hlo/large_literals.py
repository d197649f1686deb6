"""Modules without the values of large constants: nobody reads them, and copies of 50 MB take as long as a compile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jaxstage_ext.ir.hlo import schema

LARGE = 65_536
"""Bytes of a literal above which it is left out."""
MOST_FIELDS = 20_000
"""Fields that are passed on the way. Copying the literals of a larger module takes little of its compile."""
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_PATH = (schema.MODULE_COMPUTATIONS, schema.COMPUTATION_INSTRUCTIONS, schema.INSTRUCTION_LITERAL)
"""From the module to a literal."""


class _Part(NamedTuple):
    """A length-delimited field: where its tag is, where its content begins and ends."""

    tag: int
    start: int
    end: int


class _TooMany(Exception):
    """The module has more fields than are passed."""


def cut(proto: bytes) -> bytes:
    """A serialised HloModuleProto without large literals; as it is where it has none, or is no such message."""
    if len(proto) <= LARGE:
        return proto
    try:
        return b"".join(_kept(memoryview(proto), 0, len(proto), 0, _Steps()))
    except (_TooMany, IndexError, ValueError):
        return proto


class _Steps:
    def __init__(self) -> None:
        self.left = MOST_FIELDS


def _kept(data: memoryview, start: int, end: int, depth: int, steps: _Steps) -> list[memoryview | bytes]:
    """What is left of the message at [start, end), in pieces."""
    pieces: list[memoryview | bytes] = []
    done = start
    for part in _large_parts(data, start, end, _PATH[depth], steps):
        pieces.append(data[done : part.tag])
        done = part.end
        if depth + 1 < len(_PATH):
            inner = _kept(data, part.start, part.end, depth + 1, steps)
            head = _varint(_PATH[depth] << 3 | _DELIMITED) + _varint(sum(map(len, inner)))
            pieces += [head, *inner]
    return [*pieces, data[done:end]]


def _large_parts(data: memoryview, at: int, end: int, number: int, steps: _Steps) -> Iterator[_Part]:
    """The large occurrences of one field of the message at [at, end). Raises ValueError where it is malformed."""
    while at < end:
        steps.left -= 1
        if not steps.left:
            raise _TooMany
        tag, start = _read(data, at)
        wire = tag & 7
        if wire == _DELIMITED:
            size, start = _read(data, start)
            if start + size > end:
                raise ValueError("a field runs past the end of its message")
            if size > LARGE and tag >> 3 == number:
                yield _Part(at, start, start + size)
            at = start + size
        elif wire == _VARINT:
            _, at = _read(data, start)
        elif wire in (_FIXED64, _FIXED32):
            at = start + (8 if wire == _FIXED64 else 4)
        else:
            raise ValueError("a group, which HLO does not use")


def _read(data: memoryview, at: int) -> tuple[int, int]:
    """(the varint, the position after it)."""
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a varint of more than ten bytes")


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
