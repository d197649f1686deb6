"""The text of source files as it was when a program was traced, whatever became of the files since."""

from __future__ import annotations

import enum
import linecache
import os
import stat
import threading
import tokenize
from collections.abc import Iterable
from types import CodeType
from typing import Any, NamedTuple

from jaxstage_ext.ir.machine import loaded_code

Lines = tuple[str, ...]

_VERSIONS, _FILES = 4, 512
"""How many versions of a file are kept, and of how many files."""
_kept: dict[str, list[tuple[tuple[int, ...], Lines]]] = {}
_keeping = threading.Lock()


class SourceState(enum.Enum):
    """How a file's text that is shown relates to the file as it is now, and to the code that was traced."""

    CURRENT = "current"
    CHANGED = "changed"
    """The file has changed since the trace; the text is that of the trace."""
    DELETED = "deleted"
    """The file is gone; the text is that of the trace."""
    MOVED = "moved"
    """The code that was traced is in the text at other lines, to which its frames are moved."""
    OTHER_CODE = "other code"
    """The code that was traced is not in any text of the file that is known: its lines may be others."""
    UNAVAILABLE = "unavailable"


class SourceText(NamedTuple):
    """The lines of a file, each with its line end, and what is to be known about them."""

    lines: Lines
    state: SourceState


class SourceTexts:
    """The files of one program. Texts are taken at the trace, or else read when asked for."""

    def __init__(self) -> None:
        self._taken: dict[str, Lines] = {}
        self._codes: dict[str, dict[int, CodeType]] = {}
        self._chosen: dict[str, tuple[Lines, bool]] = {}
        self._shifts: dict[str, dict[str, int]] = {}

    def take(self, codes: Iterable[CodeType]) -> None:
        """Keep the text of the files that this code is in, which is about to be traced."""
        self.traced(codes := list(codes))
        for name in dict.fromkeys(code.co_filename for code in codes):
            self._taken[name] = text_now(name)

    def traced(self, codes: Iterable[CodeType]) -> None:
        """Code that the trace went through: a file's text must contain it."""
        for code in codes:
            self._codes.setdefault(code.co_filename, {})[id(code)] = code

    def text(self, name: str) -> SourceText:
        """The text of a file that the traced code is from: of the trace, an earlier one, or that of now."""
        if name not in self._chosen:
            self._chosen[name] = self._choice(name)
        return SourceText(self._chosen[name][0], self.state(name))

    def state(self, name: str) -> SourceState:
        """How the text that was given for a file relates to the file as it is now."""
        lines, is_traced = self._chosen[name]
        if not is_traced:
            return SourceState.OTHER_CODE
        if self._shifts.get(name):
            return SourceState.MOVED
        now = text_now(name)
        if lines == now and (not lines or _is_there(name)):
            return SourceState.CURRENT if lines else SourceState.UNAVAILABLE
        return SourceState.CHANGED if _is_there(name) else SourceState.DELETED

    def shift(self, name: str, function: str) -> int:
        """By how many lines the text of a file has a function further down than the code that was traced says."""
        if name not in self._codes:
            return 0
        if name not in self._chosen:
            self._chosen[name] = self._choice(name)
        return self._shifts.get(name, {}).get(function, 0)

    @property
    def has_shifts(self) -> bool:
        """Whether any file's text has a function at other lines than its code says."""
        return any(self._shifts.values())

    @property
    def shown(self) -> tuple[str, ...]:
        """The files whose text was given."""
        return tuple(self._chosen)

    def _choice(self, name: str) -> tuple[Lines, bool]:
        """The first text that has the code that was traced, and whether there is one."""
        now = text_now(name)
        versions = [self._taken.get(name) or now, now, *_versions(name)]
        codes = tuple(self._codes.get(name, {}).values())
        if not codes or _is_in_memory(name) or not any(versions):
            return versions[0], True
        for lines in dict.fromkeys(versions):
            if loaded_code.is_of(lines, codes):
                return lines, True
        for lines in dict.fromkeys(versions):
            if (shifts := loaded_code.shifts(lines, codes)) is not None:
                self._shifts[name] = shifts
                return lines, True
        return versions[0], False


def text_now(name: str) -> Lines:
    """The lines of a file as it is now, or of a cell; empty where there are none."""
    if _is_in_memory(name):
        return _in_linecache(name)
    try:
        about = os.stat(name)
    except (OSError, ValueError):
        return tuple(linecache.getlines(name))
    if not stat.S_ISREG(about.st_mode):
        return ()
    stamp = (about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)
    known = next((lines for other, lines in _kept.get(name, ()) if other == stamp), None)
    return _read(name, stamp) if known is None else known


def _read(name: str, stamp: tuple[int, ...]) -> Lines:
    try:
        with tokenize.open(name) as file:
            lines = tuple(file.readlines())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ()
    with _keeping:
        _kept[name] = [(stamp, lines), *_kept.pop(name, ())][:_VERSIONS]
        while len(_kept) > _FILES:
            del _kept[next(iter(_kept))]
    return lines


def _versions(name: str) -> list[Lines]:
    """Earlier texts of a file: those that were read here, and the one that `linecache` holds."""
    return [*(lines for _, lines in _kept.get(name, ())), _in_linecache(name)]


def _in_linecache(name: str) -> Lines:
    entry: tuple[Any, ...] = linecache.cache.get(name, ())
    return tuple(entry[2]) if len(entry) > 2 else ()


def _is_in_memory(name: str) -> bool:
    """Whether it is a cell, whose text `linecache` holds under a name that no other text has."""
    entry: tuple[Any, ...] = linecache.cache.get(name, ())
    return len(entry) > 2 and entry[1] is None


def _is_there(name: str) -> bool:
    return _is_in_memory(name) or os.path.exists(name) or not os.path.isabs(name)
