"""A jaxpr read into plain columns, which `ir.jaxpr` makes a Document of; and the source of single equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.ir import jaxpr as ir_jaxpr
from jaxstage_ext.ir.jaxpr import JaxprLines, Stack
from jaxstage_ext.ir.sources.source import FrameTable, Location, is_outside
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.numbering import Numbering


def document(jaxpr: Any, table: FrameTable) -> Document:
    """The document of a (closed) jaxpr; its stacks go into `table`."""
    return ir_jaxpr.read(lines(jaxpr), table)


def lines(jaxpr: Any) -> JaxprLines:
    """JAX's text of a (closed) jaxpr, and of each line the stack, the name scope and the graph of its equation."""
    text, source_map = jaxprs.print_jaxpr(jaxpr)
    n = text.count("\n") + 1
    stack, scope, equation = (np.full(n, -1, np.int32) for _ in range(3))
    scopes = Numbering[str]()
    stacks = _Stacks()
    first_row: dict[int, int] = {}
    equations: list[tuple[int, Any]] = []
    for row, spans in enumerate(source_map[:n]):
        if not spans:
            continue
        new = [eqn for _, _, eqn in spans if id(eqn) not in first_row]
        eqn = new[-1] if new else spans[0][2]
        name = tracebacks.name_stack(eqn)
        stack[row] = stacks.number(eqn)
        scope[row] = scopes[name] if name else -1
        for begun in new:
            first_row.setdefault(id(begun), row)
            equations.append((row, begun))
        equation[row] = first_row[id(eqn)]
    graph = _graph(equations, first_row)
    return JaxprLines(text, stack, stacks.stacks, scope, tuple(scopes), equation, *graph, stacks.codes)


def rows(jaxpr: Any) -> dict[int, int]:
    """The row of the document where each equation begins, by the equation's id."""
    _, source_map = jaxprs.print_jaxpr(jaxpr)
    first_row: dict[int, int] = {}
    for row, spans in enumerate(source_map):
        for _, _, eqn in spans:
            first_row.setdefault(id(eqn), row)
    return first_row


def frame_reader(table: FrameTable) -> Callable[[Any], int]:
    """A function from an equation to the frame of its stack in `table`, -1 without; remembers what it resolved."""
    stacks = _Stacks()
    frames: list[int] = []

    def frame_of(eqn: Any) -> int:
        number = stacks.number(eqn)
        frames.extend(ir_jaxpr.frame_of(stack, table) for stack in stacks.stacks[len(frames) :])
        return frames[number]

    return frame_of


def _graph(equations: list[tuple[int, Any]], row_of: dict[int, int]) -> tuple[Longs, Longs, Longs, Longs]:
    """(users, operands, held, holders): pairs of rows by variable, and by which equation holds which."""
    defined = {id(var): row for row, eqn in equations for var in eqn.outvars}
    edges = [(row, defined[id(var)]) for row, eqn in equations for var in eqn.invars if id(var) in defined]
    users, operands = np.array(edges, np.int64).reshape(-1, 2).T
    inside = [
        (row_of[id(inner)], row)
        for row, eqn in equations
        for inner in jaxprs.inner_equations(eqn)
        if id(inner) in row_of
    ]
    held, holders = np.array(inside, np.int64).reshape(-1, 2).T
    return users, operands, held, holders


class _Stacks:
    """Numbers the stacks of equations. Each stack, and each place in the code, is resolved once."""

    def __init__(self) -> None:
        self.stacks: list[Stack] = []
        self._numbers: dict[int, int] = {}
        self._locations: dict[tuple[int, int], Location | None] = {}
        self._codes: dict[int, CodeType] = {}
        self._limit = tracebacks.frame_limit()

    @property
    def codes(self) -> tuple[CodeType, ...]:
        """The code that the stacks are in."""
        return tuple(self._codes.values())

    def number(self, eqn: Any) -> int:
        identity = tracebacks.stack_identity(eqn)
        if identity not in self._numbers:
            self._numbers[identity] = len(self.stacks)
            self.stacks.append(tuple(self._read(eqn)))
        return self._numbers[identity]

    def _read(self, eqn: Any) -> Iterator[Location]:
        """The user's and libraries' frames, innermost first, as many as JAX writes into StableHLO."""
        for i, (code, last) in enumerate(tracebacks.raw_frames(eqn)):
            location = self._location(code, last)
            if location is None or i >= self._limit:
                return
            yield location

    def _location(self, code: Any, last: int) -> Location | None:
        key = (id(code), last)
        if key not in self._locations:
            outside = is_outside(code.co_filename)
            self._locations[key] = None if outside else _location(code, last)
            if not outside:
                self._codes[id(code)] = code
        return self._locations[key]


def _location(code: Any, last: int) -> Location:
    line, column, end_line, end_column = tracebacks.frame_position(code, last)
    file = tracebacks.canonical_file(code.co_filename)
    return Location(file, code.co_qualname, line, column + 1, end_line, end_column + 1)
