"""Whether the entries in a folder are to be believed: only this user, who owns it, may write to it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
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
