"""StableHLO as a Document: MLIR's text, with each line's location read from the debug form."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jaxstage_ext.ir import folds
from jaxstage_ext.ir.source import FrameTable, Location, is_outside
from jaxstage_ext.report import GRADIENT, OP, Document, Ints

_DEFINITION = re.compile(r"^#(loc\d*) = loc\((.*)\)$")
_ATTACHED = re.compile(r" loc\((#loc\d*|unknown|\"(?:[^\"\\]|\\.)*\"(?:\(.*\))?|callsite\(.*\)|fused.*)\)$")
_FILE = re.compile(r'^"((?:[^"\\]|\\.)*)":(\d+):(\d+)(?: to (?:(\d+))?:(\d+))?$')
_NAMED = re.compile(r'^"((?:[^"\\]|\\.)*)"(?:\((.*)\))?$')
_CALLSITE = re.compile(r"^callsite\((.*) at (.*)\)$")
_FUSED = re.compile(r"^fused(?:<.*>)?\[(.*)\]$")
_OPERATION = re.compile(r'^\s*(?:%[\w#:, %]+ = )?"?(?:func\.)?(?:[a-z_]+\.[\w.]+|call|return)\b')
_NOT_OPERATIONS = re.compile(r"^\s*(?:func\.func|module|stablehlo\.return|return|func\.return|sdy\.(?:mesh|return))\b")


class Place(NamedTuple):
    """What a location says: the stack's frame (-1 none) and the name scope."""

    frame: int
    scope: str


def read(text: str, debug_text: str, table: FrameTable) -> Document:
    """The document of a module from its text without and with locations.

    Where the two do not correspond line by line the document has no sources.
    """
    lines = text.split("\n")
    debug = debug_text.split("\n")
    locations = dict(m.groups() for m in map(_DEFINITION.match, debug) if m)
    body = [line for line in debug if not line.startswith("#loc")]
    n = len(lines)
    ends = folds.by_brackets(lines, "{}()")
    frame, scope, flags = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.zeros(n, np.uint8)
    scopes: dict[str, int] = {}
    if len(body) == n:
        reader = _Reader(locations, table)
        for row, (line, debug_line) in enumerate(zip(lines, body, strict=True)):
            if not _OPERATION.match(line) or _NOT_OPERATIONS.match(line):
                continue
            place = reader.place(_location_of(body, row, debug_line, ends))
            frame[row] = place.frame
            scope[row] = scopes.setdefault(place.scope, len(scopes)) if place.scope else -1
            flags[row] = OP | (GRADIENT if "transpose(" in place.scope else 0)
    return Document("stablehlo", text, table.freeze(), frame, flags, ends, scope, tuple(scopes))


def _location_of(body: list[str], row: int, line: str, ends: Ints) -> str:
    """The location at the end of the line or, for an operation with regions, of the line that closes it."""
    for _ in range(8):
        if attached := _ATTACHED.search(line):
            return attached.group(1)
        if ends[row] < 0:
            row += 1
            if row >= len(body) or not body[row].lstrip().startswith(("cond", "do", "}", "({")):
                return "unknown"
        else:
            row = int(ends[row])
        line = body[row]
    return "unknown"


class Chain(NamedTuple):
    """Frames, innermost first; `cut` when its callers are not the user's program."""

    frames: tuple[Location, ...]
    cut: bool


class _Reader:
    """Resolves MLIR locations, each once."""

    def __init__(self, definitions: dict[str, str], table: FrameTable) -> None:
        self._definitions = definitions
        self._table = table
        self.place = lru_cache(maxsize=None)(self._place)
        self._chain = lru_cache(maxsize=None)(self._read_chain)

    def _place(self, text: str) -> Place:
        """Names that wrap the stack are scopes, the outermost that holds a "/" being the full one."""
        names: list[str] = []
        for _ in range(32):
            text = self._expand(text)
            named = _NAMED.match(text)
            if not named:
                break
            inner = self._expand(named.group(2) or "")
            if named.group(2) is None or not _FILE.match(inner):
                names.append(_unescape(named.group(1)))
            else:
                break
            text = inner
            if not text:
                break
        frame = -1
        for where in reversed(self._chain(text).frames):
            frame = self._table.add(where, frame)
        full = [name for name in names if not name.endswith(":")]
        return Place(frame, full[0] if full else "")

    def _expand(self, text: str) -> str:
        text = text.strip()
        while text.startswith("#"):
            text = self._definitions.get(text[1:], "unknown")
        return text

    def _read_chain(self, text: str) -> Chain:
        """The stack that a location spells, cut where the user's program begins."""
        text = self._expand(text)
        if call := _CALLSITE.match(text):
            callee = self._chain(call.group(1))
            if callee.cut:
                return callee
            caller = self._chain(call.group(2))
            return Chain(callee.frames + caller.frames, caller.cut)
        if fused := _FUSED.match(text):
            return self._chain(fused.group(1).split(", ")[0])
        named = _NAMED.match(text)
        if named and named.group(2):
            file = _FILE.match(self._expand(named.group(2)))
            return _frame(file, _unescape(named.group(1))) if file else self._chain(named.group(2))
        file = _FILE.match(text)
        return _frame(file, "") if file else Chain((), False)


def _frame(file: re.Match[str], function: str) -> Chain:
    name = _unescape(file.group(1))
    if is_outside(name):
        return Chain((), True)
    line, column = int(file.group(2)), int(file.group(3))
    end_line = int(file.group(4)) if file.group(4) else line
    end_column = int(file.group(5)) + 1 if file.group(5) else 0
    return Chain((Location(name, function, line, column + 1, end_line, end_column),), False)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    raw = re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode())
    return re.sub(r"\\(.)", r"\1", raw.decode("utf-8", "replace"))
