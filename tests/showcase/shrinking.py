"""PNG files made small: one palette for all colours of a screen, which has few."""

from __future__ import annotations

import io

COLOURS = 256


def shrunk(png: bytes) -> bytes:
    """The same picture with at most `COLOURS` colours; nothing else is in the file."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        small = image.convert("RGB").quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    written = io.BytesIO()
    small.save(written, "PNG", optimize=True)
    return written.getvalue()
