"""Call stacks in one table of frames, whichever of its three forms JAX gives them in."""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
import threading
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from jaxstage_ext.ir.sources import marimo_cells, run_cells
from jaxstage_ext.ir.sources.source_texts import SourceState, SourceTexts
from jaxstage_ext.report.frames import Frames, SourceFile, TextInEditor
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.text.public_paths import public_path

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_FORMER_FILES = ("compile_history.py", "inspecting.py", "inspection.py", "loading.py", "profiles.py")
"""Files of this package as what was saved before names them: they lay beside its rooms, not in one."""
_OUTER_PACKAGES = ("IPython", "ipykernel", "nbclient", "_pytest", f"marimo{os.sep}_runtime", f"marimo{os.sep}_ast")
_LIBRARY_PARTS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STDLIB = tuple(
    {
        os.path.normpath(p) + os.sep
        for p in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__))
    }
)


_WORD = re.compile(r"<ipython-input-[\w-]+>|[^\s\"'()<>]+")
"""A cell's file name, or anything else that may hold one, in JAX's messages."""
_MARKS = ("ipykernel_", "<ipython-input-", marimo_cells.MARK)
"""One of these is in the file name of every cell."""
_OTHER_LINES = (SourceState.OTHER_CODE, SourceState.UNAVAILABLE)
"""Of a text whose lines may not be those of the code that was traced."""
_Key = tuple[int, int, int, int, int, int, int]
"""A frame's columns as `Frames` names them, up to its caller."""


class Location(NamedTuple):
    """One frame without its callers. Lines and columns count from 1; 0 is unknown."""

    file: str
    function: str
    line: int
    column: int
    end_line: int
    end_column: int


def location_in(frames: Frames, frame: int) -> Location:
    """A frame without its callers."""
    columns: Any = (frames.line, frames.column, frames.end_line, frames.end_column)
    file, function = frames.files[frames.file[frame]].name, frames.functions[frames.function[frame]]
    return Location(file, function, *(int(column[frame]) for column in columns))


@functools.lru_cache(maxsize=4096)
def is_outside(file: str) -> bool:
    """Whether a file belongs to this package or the notebook: it and its callers are not the user's program.

    What an earlier version wrote may name files that have since moved.
    """
    _, separator, inside = f"{os.sep}{file}".rpartition(f"{os.sep}jaxstage_ext{os.sep}")
    if separator and (inside in _FORMER_FILES or os.path.exists(_PACKAGE + inside.partition(os.sep)[0])):
        return True
    return any(f"{os.sep}{package}{os.sep}" in file for package in _OUTER_PACKAGES)


@functools.lru_cache(maxsize=4096)
def is_user(file: str) -> bool:
    """Whether a file is the user's: not an installed library, the standard library or a frozen module."""
    if file.startswith("<frozen"):
        return False
    return not any(part in file for part in _LIBRARY_PARTS) and not file.startswith(_STDLIB)


def cell_numbers() -> dict[str, int]:
    """The execution count of each notebook cell, by the file name of its code."""
    return getattr(getattr(_shell(), "compile", None), "_filename_map", None) or {}


def cells_that_ran() -> list[str]:
    """The file names of the cells that have run, in the order of their last runs as far as that is known."""
    numbers, noted = cell_numbers(), run_cells.in_order()
    counts = sorted(numbers, key=lambda file: numbers[file])
    return [*(file for file in counts if file not in noted), *(file for file in noted if file in numbers)]


_asked: tuple[run_cells.CellAtWork | None, Any] = (None, None)
"""The cell that ran when IPython was asked for its shell last, and the shell: asking takes a tenth of a log record."""


def _shell() -> Any:
    global _asked
    running = run_cells.at_work()
    cell, shell = _asked
    if running is None or running is not cell:
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        _asked = running, shell
    return shell


def cell_of(file: str) -> str | None:
    """The label ("In [5]", in marimo "cell step") of the notebook cell with this file name; None for other files."""
    number = cell_numbers().get(file)
    if number is not None:
        return run_cells.label_of(file, number)
    return run_cells.label_elsewhere(file) or marimo_cells.label_of(file)


def with_cell_labels(text: str) -> str:
    """The text with the file names of cells replaced by labels such as "In [5]"."""
    if not any(mark in text for mark in _MARKS):
        return text
    return _WORD.sub(lambda word: _with_cell_label(word[0]), text)


def _with_cell_label(word: str) -> str:
    """`/tmp/ipykernel_7/25.py:3` as `In [5]:3`; any other word as it is."""
    kernel = max(map(word.rfind, _MARKS))
    end = word.find(".py", kernel)
    file = word if kernel < 0 or end < 0 else word[: end + len(".py")]
    return (cell_of(file) or file) + word[len(file) :]


class FrameTable:
    """Interns call stacks. Frames are only added, so indices stay valid.

    `package` is the installed package that is inspected: its lines count where no line of the user's does; `sources`
    are the texts that the frames point into, and `remarks` what is to be said above the source of each.
    """

    def __init__(self, package: str = "", sources: SourceTexts | None = None) -> None:
        self.sources = SourceTexts() if sources is None else sources
        self.remarks: dict[str, str] = {}
        self._lock = threading.RLock()
        self._package = package
        self._frames = Numbering[_Key]()
        self._keys: list[_Key] = []
        self._user: list[int] = []
        self._inspected: list[int] = []
        self._files: dict[str, int] = {}
        self._cells: list[SourceFile] = []
        self._functions = Numbering[str]()

    def add(self, location: Location, parent: int) -> int:
        """The index of this frame called from `parent` (-1: no known caller)."""
        with self._lock:
            file = self.file(location.file)
            function = self._functions[location.function]
            _, _, line, column, end_line, end_column = location
            if shift := self.sources.shift(location.file, location.function) if is_user(location.file) else 0:
                line, end_line = line + shift, end_line + shift
            return self._frame((file, function, line, column, end_line, end_column, parent))

    def below(self, frame: int, caller: int) -> int:
        """The index of this stack, as far as `caller` is not in it, called from `caller`."""
        with self._lock:
            site = self._keys[caller][:-1]
            chain: list[int] = []
            while frame >= 0 and self._keys[frame][:-1] != site:
                chain.append(frame)
                frame = self._keys[frame][-1]
            for inner in reversed(chain):
                caller = self._frame((*self._keys[inner][:-1], caller))
            return caller

    def end_of(self, frame: int) -> tuple[int, int]:
        """(line, column) where a frame's expression ends."""
        _, _, _, _, end_line, end_column, _ = self._keys[frame]
        return end_line, end_column

    def common(self, frames: Iterable[int]) -> int:
        """The innermost frame that is in the stacks of all of these frames; -1 for none."""
        with self._lock:
            stacks = [self._stack(frame) for frame in frames]
        shared = set(stacks[0]).intersection(*stacks[1:]) if stacks else ()
        return next((frame for frame in stacks[0] if frame in shared), -1) if shared else -1

    def _stack(self, frame: int) -> list[int]:
        stack = []
        while frame >= 0:
            stack.append(frame)
            frame = self._keys[frame][-1]
        return stack

    def _frame(self, key: _Key) -> int:
        if key[-1] >= 0 and self._keys[key[-1]][:-1] == key[:-1]:
            return key[-1]  # JAX writes the frame of a loop once more for each loop inside
        frame = self._frames[key]
        if frame == len(self._keys):
            self._keys.append(key)
            source, parent = self._cells[key[0]], key[-1]
            self._user.append(frame if source.user else self._user[parent] if parent >= 0 else -1)
            own = source.package == self._package != ""
            self._inspected.append(frame if own else self._inspected[parent] if parent >= 0 else -1)
        return frame

    def file(self, name: str) -> int:
        """The index of a file in `Frames.files`."""
        with self._lock:
            if name not in self._files:
                self._files[name] = len(self._files)
                source = SourceFile(name, cell_of(name), is_user(name), self._public(name))
                in_editor = functools.partial(self._in_editor, source)
                self._cells.append(replace(source, in_editor=in_editor) if source.user else source)
            return self._files[name]

    def _in_editor(self, source: SourceFile) -> TextInEditor:
        """The text of a user's own file or cell, as it ran."""
        if source.cell is not None:
            return run_cells.text_in_editor(source.name)
        lines, state = self.sources.text(source.name)
        return TextInEditor((), None if state in _OTHER_LINES else run_cells.crc_of("".join(lines)))

    def source(self, name: str) -> SourceFile:
        """The file with this name."""
        with self._lock:
            return self._cells[self.file(name)]

    def _public(self, name: str) -> str:
        """A public path that no other file of the table has."""
        path, taken = public_path(name), {source.public for source in self._cells}
        return next(free for n in count(1) if (free := f"{path} ({n})" if n > 1 else path) not in taken)

    def __len__(self) -> int:
        return len(self._keys)

    def freeze(self) -> Frames:
        """The frames so far."""
        with self._lock:
            rows = np.array(self._keys, np.int32).reshape(-1, 7)
            columns = dict(zip(Frames.COLUMNS, np.ascontiguousarray(rows.T), strict=False))
            user, inspected = np.array(self._user, np.int32), np.array(self._inspected, np.int32)
            library = np.where(inspected >= 0, inspected, np.arange(len(user), dtype=np.int32))
            user = np.where(user >= 0, user, library)
            return Frames(tuple(self._cells), tuple(self._functions), **columns, user=user)
