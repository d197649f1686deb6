"""Unpacks compressed profiles, up to a limit."""

from __future__ import annotations

import zlib

from jaxstage_ext.profiling.unreadable import TooLarge, UnreadableProfile
from jaxstage_ext.report.text.units import scaled

MOST_BYTES = 2**30
"""Bytes of JSON that are read: about five million events, which take some 4 GB while they are read."""
_GZIP = b"\x1f\x8b"
_PIECE = 2**24


def is_gzip(data: bytes) -> bool:
    """Whether the data begin as a gzip file does."""
    return data[:2] == _GZIP


def beginning(data: bytes, size: int) -> bytes:
    """The first `size` bytes of the data, unpacked; fewer, or none, where they are damaged."""
    if not is_gzip(data):
        return data[:size]
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data[:_PIECE], size)
    except zlib.error:
        return b""


def unpacked(data: bytes, title: str, limit: int = MOST_BYTES) -> bytes:
    """The data; what a gzip file holds, all its members.

    Raises UnreadableProfile where it is cut off or damaged, or holds more than `limit` bytes: no more are unpacked.
    """
    if not is_gzip(data):
        _check_size(len(data), title, limit)
        return data
    pieces: list[bytes] = []
    size = 0
    while data:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        while not member.eof:
            piece = _next_piece(member, data, title)
            pieces.append(piece)
            size += len(piece)
            _check_size(size, title, limit)
            data = member.unconsumed_tail
        data = member.unused_data if is_gzip(member.unused_data) else b""
    return b"".join(pieces)


def _next_piece(member: zlib._Decompress, data: bytes, title: str) -> bytes:
    try:
        piece = member.decompress(data, _PIECE)
    except zlib.error as error:
        raise UnreadableProfile(f"{title}: the gzip file is damaged ({error}); copy it once more") from None
    if not piece and not member.unconsumed_tail and not member.eof:
        raise UnreadableProfile(f"{title}: the gzip file is cut off; copy it once more")
    return piece


def _check_size(size: int, title: str, limit: int) -> None:
    if size > limit:
        raise TooLarge(
            f"{title} holds more than {scaled(limit, 'B')}, the most that is read; profile fewer steps, or open "
            "the .xplane.pb of the same run"
        )
