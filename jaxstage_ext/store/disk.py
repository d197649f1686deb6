"""Entries in a folder, such as those of the inspection cache: one file each, written completely or not at all.

Several kernels of one user may share a folder; one that others may write to is refused. A file is a head (magic and
version, SHA-256 of name and data, length of the data) and the data: bytes, of which nothing here executes or unpickles
anything.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from jaxstage_ext.store import file_claim, trusted_folder

MAGIC = b"JAXStage cache 1\n"
_HEAD = len(MAGIC) + 32 + 8
_ENTRY = re.compile(r"[0-9a-f]{64}\.jaxstage")


@dataclass(frozen=True)
class Disk:
    """A folder of entries that holds at most `limit` bytes; those used longest ago go first."""

    folder: Path
    limit: int = 1_000_000_000
    makes: bool = True
    """Whether the folder is made where it is missing. Else nothing is kept then: whoever made it has ended it."""

    def get(self, key: str) -> bytes | None:
        """The data of an entry; None if there is no complete entry.

        Raises OSError where it cannot be read, ValueError for a path that cannot exist, FolderRefused.
        """
        try:
            with trusted_folder.opened(self.folder) as folder:
                raw = _read(_name(key), folder, self.limit)
                if raw is None or raw[:_HEAD] != _head(key, raw[_HEAD:]):
                    return None
                with contextlib.suppress(OSError):
                    os.utime(_name(key), dir_fd=folder)
        except FileNotFoundError:
            return None
        return raw[_HEAD:]

    def put(self, key: str, data: bytes) -> None:
        """Write an entry, then make room. Raises as `get`; nothing is left behind then."""
        if len(data) + _HEAD > self.limit or not (self.makes or self.folder.is_dir()):
            return
        self.prepare()
        with trusted_folder.opened(self.folder) as folder:
            trusted_folder.write_whole(folder, _name(key), _head(key, data), data)
            self._make_room(folder)

    def prepare(self) -> None:
        """Make the folder, where that is to be. Raises OSError."""
        if self.makes:
            trusted_folder.make(self.folder)

    def remove(self, key: str) -> None:
        """Remove an entry, if there is one. Raises as `get`."""
        with contextlib.suppress(FileNotFoundError), trusted_folder.opened(self.folder) as folder:
            os.unlink(_name(key), dir_fd=folder)

    def _make_room(self, folder: int) -> None:
        """Remove the entries beyond the limit; another kernel may do the same at the same time."""
        entries = []
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if _ENTRY.fullmatch(name):
                    entries.append((status.st_mtime, status.st_size, name))
                elif trusted_folder.is_abandoned(name, status) or file_claim.is_abandoned(name, status):
                    os.unlink(name, dir_fd=folder)
        total = sum(size for _, size, _ in entries)
        for _, size, name in sorted(entries):
            if total <= self.limit:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            total -= size


def _name(key: str) -> str:
    return f"{key}.jaxstage"


def _head(key: str, data: bytes) -> bytes:
    digest = hashlib.sha256(key.encode())
    digest.update(data)
    return MAGIC + digest.digest() + len(data).to_bytes(8, "little")


def _read(name: str, folder: int, most: int) -> bytes | None:
    """The bytes of a plain file of this user's; None for anything else (a link, a pipe), or one that is too large."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    try:
        status = os.fstat(descriptor)
        if not trusted_folder.is_trusted_file(status) or status.st_size > most:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)
