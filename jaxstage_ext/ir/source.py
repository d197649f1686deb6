"""Call stacks in one table of frames, whichever of its three forms JAX gives them in."""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
import threading
from typing import Any, NamedTuple

import numpy as np

from jaxstage_ext.report.frames import Frames, SourceFile

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_OUTER_PACKAGES = ("IPython", "ipykernel", "nbclient", "_pytest")
_LIBRARY_PARTS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STDLIB = tuple(
    {
        os.path.normpath(p) + os.sep
        for p in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__))
    }
)


class Location(NamedTuple):
    """One frame without its callers. Lines and columns count from 1; 0 is unknown."""

    file: str
    function: str
    line: int
    column: int
    end_line: int
    end_column: int


@functools.lru_cache(maxsize=4096)
def is_outside(file: str) -> bool:
    """Whether a file belongs to this package or the notebook: it and its callers are not the user's program."""
    _, separator, inside = f"{os.sep}{file}".rpartition(f"{os.sep}jaxstage_ext{os.sep}")
    if separator and os.path.exists(_PACKAGE + inside):
        return True
    return any(f"{os.sep}{package}{os.sep}" in file for package in _OUTER_PACKAGES)


@functools.lru_cache(maxsize=4096)
def is_user(file: str) -> bool:
    """Whether a file is the user's: not an installed library, the standard library or a frozen module."""
    if file.startswith("<frozen"):
        return False
    return not any(part in file for part in _LIBRARY_PARTS) and not file.startswith(_STDLIB)


def _cells() -> dict[str, int]:
    """The execution count of each notebook cell, by the file name of its code."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    return getattr(getattr(shell, "compile", None), "_filename_map", None) or {}


def cell_of(file: str) -> str | None:
    """The label ("In [5]") of the notebook cell with this file name; None for other files."""
    number = _cells().get(file)
    return None if number is None else f"In [{number}]"


def with_cell_labels(text: str) -> str:
    """The text with the file names of cells replaced by labels such as "In [5]"."""
    for file in re.findall(r"[^\s\"'()<>]*ipykernel_\d+[^\s\"'():]*|<ipython-input-[\w-]+>", text):
        text = text.replace(file, cell_of(file) or file)
    return text


class FrameTable:
    """Interns call stacks. Frames are only added, so indices stay valid."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._frames: dict[tuple[int, int, int, int, int, int, int], int] = {}
        self._user: list[int] = []
        self._files: dict[str, int] = {}
        self._cells: list[SourceFile] = []
        self._functions: dict[str, int] = {}

    def add(self, location: Location, parent: int) -> int:
        """The index of this frame called from `parent` (-1: no known caller)."""
        with self._lock:
            file = self.file(location.file)
            function = self._functions.setdefault(location.function, len(self._functions))
            key = (file, function, *location[2:], parent)
            frame = self._frames.setdefault(key, len(self._frames))
            if frame == len(self._user):
                inherited = self._user[parent] if parent >= 0 else -1
                self._user.append(frame if self._cells[file].user else inherited)
            return frame

    def file(self, name: str) -> int:
        """The index of a file in `Frames.files`."""
        with self._lock:
            if name not in self._files:
                self._files[name] = len(self._files)
                self._cells.append(SourceFile(name, cell_of(name), is_user(name)))
            return self._files[name]

    def __len__(self) -> int:
        return len(self._user)

    def freeze(self) -> Frames:
        """The frames so far. Where none is in a user's file, frames of libraries count as the user's."""
        with self._lock:
            rows = np.array(list(self._frames), np.int32).reshape(-1, 7)
            columns = dict(zip(Frames.COLUMNS, np.ascontiguousarray(rows.T), strict=False))
            user = np.array(self._user, np.int32)
            if not (user >= 0).any():
                user = np.arange(len(user), dtype=np.int32)
            return Frames(tuple(self._cells), tuple(self._functions), **columns, user=user)
