"""A picture of few colours as PNG bytes (W3C, Portable Network Graphics, third edition)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int, int]
"""Red, green, blue and opacity, each 0 to 255."""


def png(pixels: npt.NDArray[np.uint8], palette: Sequence[Colour]) -> bytes:
    """Rows of indices into the palette, which has at most 256 colours."""
    height, width = pixels.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels], axis=1)
    colours = b"".join(bytes(colour[:3]) for colour in palette)
    opacity = bytes(colour[3] for colour in palette)
    parts = ((b"IHDR", head), (b"PLTE", colours), (b"tRNS", opacity), (b"IDAT", zlib.compress(rows.tobytes(), 9)))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in (*parts, (b"IEND", b"")))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
