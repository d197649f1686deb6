"""Our own record of an entry of the persistent cache: what its key was made of, and the checksum of its file.

JAX's file holds none of it. A record is bytes to be read as data: nothing of it is executed or unpickled.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core.jax_private.cache_key_parts import KeyBytes, KeyPart
from jaxstage_ext.store import entry

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class FileSeal:
    """What tells an entry's file from a damaged one, taken when it was written."""

    sha256: str
    """Of the file."""
    executable: str
    """The SHA-256 of the executable in it, which a later compile may give once more."""
    version: tuple[int, int, int]
    """The file's inode, size and time."""


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What is kept of one entry."""

    key: str
    module_name: str
    parts: Mapping[KeyPart, tuple[bytes, ...]]
    written: float
    """`time.time()` when it was recorded."""
    seconds: float | None
    """Of the compile; None where only a hit was seen."""
    devices: str
    """"1 of 4 cpu devices"."""
    seal: FileSeal | None
    """Of the file; None where another process wrote it."""

    @property
    def jaxlib(self) -> str:
        """The version of jaxlib that compiled it."""
        return b"".join(self.parts[KeyPart.JAXLIB]).decode("utf-8", "replace")


def packed(record: KeyRecord, folder: str) -> bytes:
    """A record of an entry in this folder, as bytes."""
    head: dict[str, Any] = {
        "format": _FORMAT,
        "folder": folder,
        "module": record.module_name,
        "written": record.written,
        "seconds": record.seconds,
        "devices": record.devices,
        "sizes": {part.name: [len(piece) for piece in pieces] for part, pieces in record.parts.items()},
    }
    if record.seal is not None:
        seal = record.seal
        head |= {"sha256": seal.sha256, "executable": seal.executable, "version": list(seal.version)}
    pieces = b"".join(piece for part in KeyPart for piece in record.parts[part])
    return entry.pack(record.key, head, [zlib.compress(pieces, 1)])


def unpacked(key: str, folder: str, data: bytes) -> KeyRecord:
    """The record that `packed` made. Raises ValueError for anything else, another folder's record included."""
    try:
        head, [deflated] = entry.unpack(key, data)
        if head["format"] != _FORMAT or head["folder"] != folder:
            raise ValueError(f"not a record of an entry in {folder}")
        parts = _parts(head["sizes"], entry.inflated(deflated))
        if KeyBytes(str(head["module"]), parts).key != key:
            raise ValueError(f"not the parts of the key {key}")
        seconds = None if head["seconds"] is None else float(head["seconds"])
        return KeyRecord(
            key, str(head["module"]), parts, float(head["written"]), seconds, str(head["devices"]), _seal(head)
        )
    except (KeyError, TypeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not a record of a cache entry: {error!r}") from None


def _seal(head: Mapping[str, Any]) -> FileSeal | None:
    if "sha256" not in head:
        return None
    inode, size, time = map(int, head["version"])
    return FileSeal(str(head["sha256"]), str(head["executable"]), (inode, size, time))


def _parts(sizes: Mapping[str, list[int]], data: bytes) -> dict[KeyPart, tuple[bytes, ...]]:
    parts, at = {}, 0
    for part in KeyPart:
        pieces = []
        for size in sizes[part.name]:
            pieces.append(data[at : at + size])
            at += size
        parts[part] = tuple(pieces)
    return parts
