"""How a serialised `jax.export.Exported` begins: a flatbuffer, whose root table says where its fields are.

Form: https://flatbuffers.dev/internals; the fields are those of jax/_src/export/serialization.fbs.
"""

from __future__ import annotations

import struct

_FEWEST_FIELDS, _MOST_FIELDS = 10, 60
"""The table of an Exported has 17 fields or more, by version."""


def is_exported(head: bytes) -> bool:
    """Whether a file that begins so can be one. Files of other kinds begin otherwise; a damaged one may pass."""
    if len(head) < 8:
        return False
    (root,) = struct.unpack_from("<I", head)
    if root % 4 or not 8 <= root <= len(head) - 4:
        return False
    (back,) = struct.unpack_from("<i", head, root)
    table = root - back
    if not 4 <= table <= root - 4:
        return False
    size, spread = struct.unpack_from("<HH", head, table)
    offsets = (
        [offset for (offset,) in struct.iter_unpack("<H", head[table + 4 : table + size])] if size % 2 == 0 else []
    )
    return _FEWEST_FIELDS <= len(offsets) <= _MOST_FIELDS and table + size <= root and max(offsets) < spread
