"""Entries of the inspection cache in a folder: one file each, written completely or not at all, trusted by checksum.

Several kernels may share a folder. A file is a head (magic and version, SHA-256 of name and data, length of the
data) and the data, which are bytes to be read as data: nothing of it is ever executed or unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"JAXStage cache 1\n"
_HEAD = len(MAGIC) + 32 + 8
_ENTRY, _UNFINISHED = re.compile(r"[0-9a-f]{64}\.jaxstage"), ".unfinished-"
_ABANDONED = 3600.0
"""Seconds after which a file that nobody finished is removed."""


@dataclass(frozen=True)
class Disk:
    """A folder of entries that holds at most `limit` bytes; those used longest ago go first."""

    folder: Path
    limit: int = 1_000_000_000

    def get(self, key: str) -> bytes | None:
        """The data of an entry; None if there is no complete entry.

        Raises OSError where it cannot be read, ValueError for a path that cannot exist.
        """
        path = self._path(key)
        try:
            raw = _read(path, self.limit)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if raw is None or raw[:_HEAD] != _head(key, raw[_HEAD:]):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return raw[_HEAD:]

    def put(self, key: str, data: bytes) -> None:
        """Write an entry, then make room. Raises as `get`; nothing is left behind then."""
        if len(data) + _HEAD > self.limit:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, unfinished = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.folder)
        try:
            with open(descriptor, "wb") as file:
                file.write(_head(key, data))
                file.write(data)
            os.replace(unfinished, self._path(key))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            raise
        self._make_room()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.jaxstage"

    def _make_room(self) -> None:
        """Remove the entries beyond the limit; another kernel may do the same at the same time."""
        entries = []
        for entry in os.scandir(self.folder):
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if _ENTRY.fullmatch(entry.name):
                    entries.append((status.st_mtime, status.st_size, entry.path))
                elif entry.name.startswith(_UNFINISHED) and status.st_mtime < time.time() - _ABANDONED:
                    os.unlink(entry.path)
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total -= size


def _head(key: str, data: bytes) -> bytes:
    digest = hashlib.sha256(key.encode())
    digest.update(data)
    return MAGIC + digest.digest() + len(data).to_bytes(8, "little")


def _read(path: Path, most: int) -> bytes | None:
    """The bytes of a plain file; None for anything else (a link, a pipe), or one that is too large."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        if os.path.islink(path):
            return None
        raise
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return None
        return file.read()
