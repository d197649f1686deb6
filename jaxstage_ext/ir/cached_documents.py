"""A cache of documents: the same module is not read twice, only its frames are added to another table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from jaxstage_ext.ir.sources.source import FrameTable, location_in
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames, Ints
from jaxstage_ext.store import cache

Value = TypeVar("Value")
_known = cache.table(256_000_000)


def document(key: str | None, read: Callable[[], Document], table: FrameTable) -> Document:
    """The document under this key, read where it is not cached or the key is None. Its frames are in `table`."""
    if table.sources.has_shifts:
        return read()  # its lines are not those of the module
    known: Document | None = _known.get(key) if key and cache.enabled() else None
    if known is not None:
        return _moved(known, table)
    document = read()
    if key and cache.enabled():
        _known.put(key, replace(document), _size(document))  # a copy: what is derived from it stays with its reader
    return document


def value(key: str | None, read: Callable[[], Value], size: Callable[[Value], int]) -> Value:
    """The value under this key, read where it is not cached. It is shared: do not change it. `size` is in bytes."""
    known: Value | None = _known.get(key) if key and cache.enabled() else None
    if known is None:
        known = read()
        if key and cache.enabled():
            _known.put(key, known, size(known))
    return known


def _size(document: Document) -> int:
    columns = (getattr(document, name) for name in document.COLUMNS)
    return len(document.text) + sum(int(column.nbytes) for column in columns if column is not None)


def _moved(known: Document, table: FrameTable) -> Document:
    number = _added(known.frames, np.unique(known.frame[known.frame >= 0]).tolist(), table)
    frame = np.where(known.frame >= 0, number[known.frame], -1).astype(np.int32)
    return replace(known, frame=frame, frames=table.freeze())


def _added(frames: Frames, used: list[int], table: FrameTable) -> Ints:
    """The index of each frame in `table`, to which the frames in use and their callers are added."""
    number = np.full(len(frames) + 1, -1, np.int32)  # the last entry is for -1, no frame
    for frame in sorted({caller for innermost in used for caller in frames.stack(innermost)}):
        number[frame] = table.add(location_in(frames, frame), int(number[frames.parent[frame]]))
    return number
