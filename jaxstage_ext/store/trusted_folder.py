"""Whether the entries in a folder are to be believed: only this user, who owns it, may write to it."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class FolderRefused(ValueError):
    """A folder that is neither read nor written; the text says why, and what to do."""


def make(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A descriptor of the folder itself, whatever its path leads to later.

    Raises FolderRefused, and OSError where it cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _check(os.fstat(descriptor), folder)
        yield descriptor
    finally:
        os.close(descriptor)


UNFINISHED = ".unfinished-"
"""With which the names of files begin that are being written, or whose writer died."""
_ABANDONED = 3600.0
"""Seconds after which a file that nobody finished may be removed."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_whole(folder: int, name: str, *parts: bytes) -> None:
    """Put a file in the place of that of this name in an open folder. Raises OSError; nothing is left behind then."""
    unfinished = f"{UNFINISHED}{secrets.token_hex(8)}"
    try:
        with open(os.open(unfinished, _NEW, 0o600, dir_fd=folder), "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise


def is_abandoned(name: str, status: os.stat_result) -> bool:
    """Whether a file of this name was begun by `write_whole` and nobody finishes it any more."""
    return name.startswith(UNFINISHED) and status.st_mtime < time.time() - _ABANDONED


def is_trusted_file(status: os.stat_result) -> bool:
    """Whether a plain file belongs to this user or the system, and nobody else may write to it."""
    return stat.S_ISREG(status.st_mode) and status.st_uid in (os.geteuid(), 0) and not status.st_mode & _OTHERS_WRITE


def _check(status: os.stat_result, folder: Path) -> None:
    if status.st_uid not in (os.geteuid(), 0):
        raise FolderRefused(
            f"it belongs to user {status.st_uid}, and this process runs as user {os.geteuid()}; "
            "name a folder of your own"
        )
    if status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX:
        mode = stat.filemode(status.st_mode)
        raise FolderRefused(f"others may write to it, its mode is {mode}; chmod go-w {folder}")
