"""Which folder JAX's persistent cache really uses, and why that is not the one that was set."""

from __future__ import annotations

import enum
import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.core.jax_private.persistent_cache import CacheState


class FolderUse(enum.Enum):
    """Whether a folder is in use, and which."""

    IN_USE = "in use"
    NOT_OPENED_YET = "not opened yet"
    """The next compile opens the folder that is set."""
    EARLIER_FOLDER = "another folder is in use"
    """JAX keeps the folder that it opened first."""
    NOT_SET = "not set"
    DISABLED = "disabled"
    DISABLED_AT_FIRST = "disabled at the first compile"
    """JAX decides once whether it uses a cache."""
    NEEDS_FILELOCK = "needs filelock"
    IS_A_FILE = "is a file"
    NOT_OPENED = "could not be opened"

    @property
    def words(self) -> str:
        """What follows "the folder that is set"."""
        return _WORDS.get(self, self.value)


_WORDS = {
    FolderUse.DISABLED: "is not used: jax_enable_compilation_cache is False",
    FolderUse.DISABLED_AT_FIRST: "is not used: the cache was disabled at the first compile",
    FolderUse.NEEDS_FILELOCK: "needs the package filelock",
    FolderUse.NOT_OPENED: "could not be opened",
    FolderUse.EARLIER_FOLDER: "is not the one in use",
}


@dataclass(frozen=True, slots=True)
class FolderState:
    """The folder in use and the folder that was set."""

    use: FolderUse
    folder: str
    """In use, or to be opened by the next compile; "" where none is."""
    set_folder: str
    """`jax_compilation_cache_dir`."""
    is_there: bool
    """Whether the folder exists."""
    is_writable: bool | None
    """Whether entries can be written; None where that is not known."""
    max_size: int | None
    """The limit in bytes; None without one."""
    is_remote: bool
    """In a store such as gs://."""
    free_bytes: int | None = None
    """Of its file system; None where that is not known."""
    is_enabled: bool = True
    """`jax_enable_compilation_cache` now, which JAX reads once."""
    is_readable: bool | None = None
    """Whether entries can be read; None where that is not known."""


def folder_state() -> FolderState:
    """The folder that JAX's next compile uses."""
    state = persistent_cache.state()
    folder = state.next_folder
    is_remote = "://" in folder and not folder.startswith("file://")
    there = bool(folder) and not is_remote and os.path.isdir(folder)
    writable = os.access(folder, os.W_OK | os.X_OK) if there else None
    size = state.max_size if state.max_size >= 0 else None
    free = _free_bytes(folder) if there else None
    readable = os.access(folder, os.X_OK) if there else None
    return FolderState(
        _use(state),
        folder,
        state.set_folder,
        there,
        writable,
        size,
        is_remote,
        free,
        is_enabled=state.is_enabled,
        is_readable=readable,
    )


def _free_bytes(folder: str) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _use(state: CacheState) -> FolderUse:
    if state.folder:
        is_set = bool(state.set_folder) and _normal(state.set_folder) == _normal(state.folder)
        return FolderUse.IN_USE if is_set else FolderUse.EARLIER_FOLDER
    if not state.set_folder:
        return FolderUse.NOT_SET
    if state.was_opened:
        return _failure(state)
    if not state.is_enabled:
        return FolderUse.DISABLED
    return FolderUse.DISABLED_AT_FIRST if state.was_asked and not state.uses else FolderUse.NOT_OPENED_YET


def _failure(state: CacheState) -> FolderUse:
    if os.path.isfile(state.set_folder):
        return FolderUse.IS_A_FILE
    if state.max_size >= 0 and importlib.util.find_spec("filelock") is None:
        return FolderUse.NEEDS_FILELOCK
    return FolderUse.NOT_OPENED


def _normal(folder: str) -> str:
    return folder if "://" in folder else str(Path(folder))
