"""The bytes of an entry of the inspection cache: plain JSON, parts of raw bytes, and the key that it is an entry of."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from jaxstage_ext.store import maker
from jaxstage_ext.store.maker import Maker

_FIELDS = {"key", "head", "sizes", "maker"}
MOST_INFLATED = 1 << 29
"""Bytes that the deflated parts of an entry may take when inflated, all together."""


def pack(key: str, head: Mapping[str, Any], parts: Sequence[bytes]) -> bytes:
    """A head of plain JSON and parts of raw bytes, as one entry."""
    sizes = [len(part) for part in parts]
    raw = json.dumps({"key": key, "head": head, "sizes": sizes, "maker": maker.me().to_dict()}).encode()
    return b"".join((len(raw).to_bytes(8, "little"), raw, *parts))


def unpack(key: str, data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The head and the parts that `pack` made an entry of. Raises ValueError for anything else, another key's included.

    Also RecursionError, for JSON that is nested too deeply.
    """
    fields, start = _fields(key, data)
    head, sizes = fields["head"], fields["sizes"]
    if not isinstance(head, dict) or not isinstance(sizes, list):
        raise ValueError("an entry's head must be an object, and its sizes a list")
    if any(type(size) is not int or size < 0 for size in sizes) or start + sum(sizes) != len(data):
        raise ValueError(f"an entry of {len(data)} bytes whose parts do not fill it")
    parts = []
    for size in sizes:
        parts.append(data[start : start + size])
        start += size
    return head, parts


def maker_of(key: str, data: bytes) -> Maker:
    """Which process packed an entry. Raises as `unpack`."""
    fields, _ = _fields(key, data)
    return maker.from_dict(fields["maker"])


def _fields(key: str, data: bytes) -> tuple[dict[str, Any], int]:
    """What stands before the parts, and where they begin."""
    start = 8 + int.from_bytes(data[:8], "little")
    fields = json.loads(data[8:start], parse_constant=_refuse)
    if not isinstance(fields, dict) or fields.keys() != _FIELDS or fields["key"] != key:
        raise ValueError(f"not an entry of the key {key}")
    return fields, start


def inflated(packed: bytes, most: int = MOST_INFLATED) -> bytes:
    """Deflated bytes, inflated. Raises ValueError where they are damaged, cut, or inflate to more than `most`."""
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(f"{len(packed)} bytes that cannot be inflated: {error}") from None
    if len(data) > most:
        raise ValueError(f"{len(packed)} bytes inflate to more than {most}")
    if not inflater.eof or inflater.unused_data:
        raise ValueError(f"{len(packed)} bytes are not one deflated part")
    return data


def check_inflated(parts: Sequence[bytes]) -> None:
    """Raise ValueError unless every part can be inflated, all together to at most MOST_INFLATED bytes."""
    room = MOST_INFLATED
    for part in parts:
        room -= len(inflated(part, room))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not plain JSON")
