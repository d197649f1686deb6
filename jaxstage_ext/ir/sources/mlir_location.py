"""MLIR's locations, `loc("scope"(callsite("fn"("file":1:2 to :3) at ...)))`, as frames and name scopes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from jaxstage_ext.ir.sources.source import FrameTable, Location, is_outside

_DEFINITION = re.compile(r"^#(loc\d*) = loc\((.*)\)$")
_FILE = re.compile(r'^"((?:[^"\\]|\\.)*)":(\d+):(\d+)(?: to (?:(\d+))?:(\d+))?$')
_NAMED = re.compile(r'^"((?:[^"\\]|\\.)*)"(?:\((.*)\))?$')
_CALLSITE = re.compile(r"^callsite\((?=.*\)$)(.*) at (.*)\)$")
_FUSED = re.compile(r"^fused(?=.*\]$)(?:<.*>)?\[(.*)\]$")


class MlirPlace(NamedTuple):
    """The frame of a location's stack, -1 for none, and its name scope."""

    frame: int
    scope: str


class Chain(NamedTuple):
    """Frames, innermost first; `cut` where their callers are outside the user's program."""

    frames: tuple[Location, ...]
    cut: bool


class Locations:
    """Resolves the locations of one module, each once, and adds their stacks to the table."""

    def __init__(self, debug_lines: Iterable[str], table: FrameTable) -> None:
        self._definitions = {
            m[1]: m[2] for line in debug_lines if line.startswith("#") and (m := _DEFINITION.match(line))
        }
        self._table = table
        self.place = lru_cache(maxsize=None)(self._place)
        self._chain = lru_cache(maxsize=None)(self._read_chain)

    def _place(self, text: str) -> MlirPlace:
        """Names around the stack are scopes; those that end in ":" only repeat the primitive."""
        names: list[str] = []
        text = self._expand(text)
        while named := _NAMED.match(text):
            inner = self._expand(named[2] or "")
            if _FILE.match(inner):
                break
            names.append(_unescape(named[1]))
            text = inner
        frame = -1
        for location in reversed(self._chain(text).frames):
            frame = self._table.add(location, frame)
        return MlirPlace(frame, next((name for name in names if not name.endswith(":")), ""))

    def _expand(self, text: str) -> str:
        text = text.strip()
        while text.startswith("#"):
            text = self._definitions.get(text[1:], "unknown")
        return text

    def _read_chain(self, text: str) -> Chain:
        text = self._expand(text)
        if call := _CALLSITE.match(text):
            callee = self._chain(call[1])
            if callee.cut:
                return callee
            caller = self._chain(call[2])
            return Chain(callee.frames + caller.frames, caller.cut)
        if fused := _FUSED.match(text):
            return self._chain(fused[1].split(", ")[0])
        named = _NAMED.match(text)
        if named and named[2]:
            file = _FILE.match(self._expand(named[2]))
            return _frame(file, _unescape(named[1])) if file else self._chain(named[2])
        file = _FILE.match(text)
        return _frame(file, "") if file else Chain((), False)


def _frame(file: re.Match[str], function: str) -> Chain:
    name = _unescape(file[1])
    if is_outside(name):
        return Chain((), True)
    line, column = int(file[2]), int(file[3])
    end_line = int(file[4]) if file[4] else line
    end_column = int(file[5]) + 1 if file[5] else 0
    return Chain((Location(name, function, line, column + 1, end_line, end_column),), False)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    raw = re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())
    return re.sub(r"\\(.)", r"\1", raw.decode("utf-8", "replace"))
