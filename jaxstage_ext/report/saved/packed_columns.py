"""Text and columns of a saved report as compressed base64, and back within a budget that all of a file shares."""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from jaxstage_ext.report.saved.json_form import BadForm, quoted

_DTYPES: dict[str, np.dtype[Any]] = {"i4": np.dtype("<i4"), "u1": np.dtype("u1")}


class PackedColumn(TypedDict):
    """A column: "i4" or "u1", and its bytes, little-endian."""

    dtype: str
    data: str


@dataclass
class Budget:
    """What is left of what all targets of a file may hold together.

    Attributes:
      text: bytes of text.   lines: lines of documents.   frames: entries of call stacks.
    """

    text: int
    lines: int
    frames: int

    def takes(self, text: int = 0, lines: int = 0, frames: int = 0) -> bool:
        """Whether that much is left; if so, it is taken."""
        if text > self.text or lines > self.lines or frames > self.frames:
            return False
        self.text, self.lines, self.frames = self.text - text, self.lines - lines, self.frames - frames
        return True


def packed(column: np.ndarray[Any, Any]) -> PackedColumn:
    """A column as JSON."""
    kind = "u1" if column.dtype == np.uint8 else "i4"
    return {"dtype": kind, "data": compressed(np.ascontiguousarray(column, _DTYPES[kind]).tobytes())}


def compressed(data: bytes) -> str:
    """Bytes as JSON, at a level that takes 9 ms for each MB of text, twice the quickest's, and a quarter less room."""
    return base64.b64encode(zlib.compress(data, 5)).decode()


def decompressed(text: str, most: int, excess: str) -> bytes:
    """At most `most` bytes. Raises BadForm for more, with the message `excess`, and for damaged data."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(base64.b64decode(text, validate=True), most + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise BadForm(f"compressed data cannot be read ({error})") from None
    if len(data) > most:
        raise BadForm(excess)
    if not stream.eof or stream.unused_data:
        raise BadForm("compressed data ends early" if not stream.eof else "something follows compressed data")
    return data


def unpacked(column: PackedColumn, dtype: str, most: int, where: str) -> np.ndarray[Any, Any]:
    """The column, which has at most so many entries. Raises BadForm for anything else."""
    if column["dtype"] != dtype:
        raise BadForm(f"{where} must be of dtype {dtype}, not {quoted(column['dtype'])}")
    size = _DTYPES[dtype].itemsize
    data = decompressed(column["data"], most * size, f"a column has more than {most:,} entries: {where}")
    if len(data) % size:
        raise BadForm(f"{where} ends within an entry")
    return np.frombuffer(data, _DTYPES[dtype]).copy()
