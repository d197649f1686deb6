"""The call sites of StableHLO as XLA has them once it has inlined every call."""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxstage_ext.ir.hlo.places import moved_places
from jaxstage_ext.ir.hlo.places.moved_places import OUTSIDE, CallSiteRows
from jaxstage_ext.ir.sources.borrowed_frames import primitive
from jaxstage_ext.ir.sources.source import FrameTable, Location, location_in
from jaxstage_ext.report.document import INFERRED, Document

_CALL = re.compile(r"\bcall @([\w.$-]+)\(")
_FUNCTION = re.compile(r"^\s*func\.func (public )?.*?@([\w.$-]+)\(")
_MOST_LINES = 300_000
"""Lines that are read, those of a function once for each call of it."""


class LoweredSites(NamedTuple):
    """By row of the call sites: the frame, and the name scopes with their primitives, as XLA joins them."""

    frame: dict[int, int]
    scopes: dict[int, set[str]]


def add(sites: CallSiteRows, document: Document, table: FrameTable) -> LoweredSites:
    """Add the call sites of a StableHLO document whose frames are in `table`."""
    return _Inlined(sites, document, table).read()


class _Inlined:
    def __init__(self, sites: CallSiteRows, document: Document, table: FrameTable) -> None:
        self._sites, self._document, self._table = sites, document, table
        self._frame_of: dict[int, int] = {}
        self._scopes: dict[int, set[str]] = {}
        self._left = _MOST_LINES
        self._bodies: dict[str, range] = {}
        self._public: list[str] = []
        self._calls: dict[int, str] = {}
        self._primitives_of: dict[str, set[str]] = {}
        for row, line in enumerate(document.lines):
            if match := _FUNCTION.match(line):
                self._bodies[match[2]] = range(row + 1, int(document.fold_end[row]))
                self._public += [match[2]] if match[1] else []
            elif call := _CALL.search(line):
                self._calls[row] = call[1]

    def read(self) -> LoweredSites:
        """Add everything that the public functions come to."""
        left = [(name, OUTSIDE, -1, "") for name in self._public]
        while left:
            name, caller, frame, around = left.pop()
            for line in self._bodies.get(name, ()):
                self._left -= 1
                row, inner = self._add(line, caller, frame)
                scope = self._scope(line, around)
                if scope:
                    self._scopes.setdefault(row, set()).add(scope)
                if line in self._calls and self._left > 0:
                    left.append((self._calls[line], row, inner, scope or around))
        return LoweredSites(self._frame_of, self._scopes)

    def _scope(self, line: int, around: str) -> str:
        """The name scope of a line below that of the call of its function; "" where it has none."""
        number = int(self._document.scope[line])
        own = self._document.scopes[number] if number >= 0 else ""
        return f"{around}/{own}" if own and around else own

    def _add(self, line: int, caller: int, caller_frame: int) -> tuple[int, int]:
        """(the row, the frame) of a line in a function that is called from there."""
        own = int(self._document.frame[line])
        if own < 0 or self._document.flags[line] & INFERRED:
            return caller, caller_frame
        row, frame = caller, caller_frame
        for each in reversed(self._below(own, caller)):
            frame = self._table.below(each, caller_frame) if caller_frame >= 0 else each
            row = self._sites.add(self._location(each), row)
            self._frame_of.setdefault(row, frame)
        if row >= 0:
            held = self._primitives_in(self._calls[line]) if line in self._calls else set[str]()
            self._sites.primitives[row] |= held | self._own(line)
            self._sites.held[row] |= held
        return row, frame

    def _below(self, frame: int, caller: int) -> list[int]:
        """The frames of a stack as far as the caller is not in it, innermost first."""
        stack = self._document.frames.stack(frame)
        if caller < 0:
            return stack
        site = moved_places.start(self._sites.locations[caller])
        starts = [moved_places.start(self._location(each)) for each in stack]
        return stack[: starts.index(site)] if site in starts else stack

    def _location(self, frame: int) -> Location:
        return location_in(self._document.frames, frame)

    def _own(self, line: int) -> set[str]:
        scope = int(self._document.scope[line])
        return {primitive(self._document.scopes[scope])} if scope >= 0 else set()

    def _primitives_in(self, function: str) -> set[str]:
        """The primitives of a function, and of those that it calls."""
        if function not in self._primitives_of:
            self._primitives_of[function] = result = set[str]()
            for line in self._bodies.get(function, ()):
                result |= self._own(line) | (self._primitives_in(self._calls[line]) if line in self._calls else set())
        return self._primitives_of[function]
