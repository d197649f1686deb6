"""How binary data travels to the front end."""

from __future__ import annotations

import gzip


def pack(data: bytes) -> bytes:
    """Gzip at the level that costs least; the same bytes each time."""
    return gzip.compress(data, 1, mtime=0)
