"""Small files by name in a folder of this user's: each is there as a whole, with its checksum, or not at all.

Several processes may write to the folder. What is not such a file is left alone when it is read, and never believed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from jaxstage_ext.store import trusted_folder

_MAGIC = b"JAXStage record 1\n"
_HEAD = len(_MAGIC) + 32
_OLD = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class NamedFile:
    """One file of the folder: its name, when it was written last, and its size."""

    name: str
    time: float
    size: int


@dataclass(frozen=True)
class NamedFiles:
    """The files of a folder that end in `suffix`; beyond `most_bytes` or `most_files` the oldest are removed."""

    folder: Path
    suffix: str
    most_bytes: int
    most_files: int

    def read(self, name: str) -> bytes | None:
        """The data of a file; None where there is none, or it is damaged or not ours. Raises OSError, FolderRefused."""
        try:
            with trusted_folder.opened(self.folder) as folder:
                raw = _read(name + self.suffix, folder, self.most_bytes)
        except FileNotFoundError:
            return None
        if raw is None or len(raw) < _HEAD or raw[:_HEAD] != _head(name, raw[_HEAD:]):
            return None
        return raw[_HEAD:]

    def write(self, name: str, data: bytes) -> None:
        """Write a file in place of that of this name. Raises OSError, FolderRefused; nothing is left behind then."""
        trusted_folder.make(self.folder)
        with trusted_folder.opened(self.folder) as folder:
            trusted_folder.write_whole(folder, name + self.suffix, _head(name, data), data)

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        with contextlib.suppress(FileNotFoundError), trusted_folder.opened(self.folder) as folder:
            os.unlink(name + self.suffix, dir_fd=folder)

    def listed(self, start: str = "") -> list[NamedFile]:
        """The files whose names begin with `start`, newest first. Raises OSError, FolderRefused."""
        files = []
        try:
            with trusted_folder.opened(self.folder) as folder:
                for name in os.listdir(folder):
                    if name.startswith(start) and name.endswith(self.suffix):
                        with contextlib.suppress(FileNotFoundError):
                            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                            files.append(NamedFile(name.removesuffix(self.suffix), status.st_mtime, status.st_size))
        except FileNotFoundError:
            return []
        return sorted(files, key=lambda file: (-file.time, file.name))

    def make_room(self) -> None:
        """Remove the oldest files beyond the limits, and what a process that died has left unfinished."""
        total = 0
        for count, file in enumerate(self.listed(), 1):
            total += file.size
            if total > self.most_bytes or count > self.most_files:
                self.remove(file.name)
        with contextlib.suppress(FileNotFoundError), trusted_folder.opened(self.folder) as folder:
            for name in os.listdir(folder):
                with contextlib.suppress(FileNotFoundError):
                    if trusted_folder.is_abandoned(name, os.stat(name, dir_fd=folder, follow_symlinks=False)):
                        os.unlink(name, dir_fd=folder)


def _head(name: str, data: bytes) -> bytes:
    digest = hashlib.sha256(name.encode())
    digest.update(data)
    return _MAGIC + digest.digest()


def _read(name: str, folder: int, most: int) -> bytes | None:
    try:
        descriptor = os.open(name, _OLD, dir_fd=folder)
    except IsADirectoryError:
        return None
    with open(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not trusted_folder.is_trusted_file(status) or status.st_size > most:
            return None
        return file.read()


def cache_folder() -> Path:
    """Where this user's caches belong: `~/.cache/jaxstage`, under XDG_CACHE_HOME if that is set."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jaxstage"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "jaxstage"
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if os.path.isabs(home) else Path.home() / ".cache") / "jaxstage"
