"""A jaxpr as a Document: JAX's own text, with each line tied to its equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxstage_ext.core import jax_private
from jaxstage_ext.ir import folds, links
from jaxstage_ext.ir.source import FrameTable, Location, is_outside
from jaxstage_ext.report.document import OP, Document


def read(jaxpr: Any, table: FrameTable) -> Document:
    """The document of a (closed) jaxpr; its stacks go into `table`."""
    text, source_map = jax_private.print_jaxpr(jaxpr)
    lines = text.split("\n")
    n = len(lines)
    frame, scope = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    flags = np.zeros(n, np.uint8)
    scopes: dict[str, int] = {}
    frame_of = frame_reader(table)
    first_row: dict[int, int] = {}
    equations: list[tuple[int, Any]] = []
    for row, spans in enumerate(source_map[:n]):
        new = [eqn for _, _, eqn in spans if id(eqn) not in first_row]
        if not spans:
            continue
        eqn = new[-1] if new else spans[0][2]
        name = jax_private.name_stack(eqn)
        frame[row] = frame_of(eqn)
        scope[row] = scopes.setdefault(name, len(scopes)) if name else -1
        for begun in new:
            first_row.setdefault(id(begun), row)
            equations.append((row, begun))
            flags[row] = OP
    names, frames = tuple(scopes), table.freeze()
    linked = links.complete(frame, scope, flags, names, frames, _graph(equations, first_row, n))
    ends = folds.by_brackets(lines)
    return Document("jaxpr", text, frames, linked.frame, linked.flags, ends, linked.scope, names, linked.origin)


def rows(jaxpr: Any) -> dict[int, int]:
    """The row of the document where each equation begins, by the equation's id."""
    _, source_map = jax_private.print_jaxpr(jaxpr)
    found: dict[int, int] = {}
    for row, spans in enumerate(source_map):
        for _, _, eqn in spans:
            found.setdefault(id(eqn), row)
    return found


def _graph(equations: list[tuple[int, Any]], row_of: dict[int, int], n: int) -> links.Graph:
    """Operands and users by variable; an equation's home is the first that holds its jaxpr."""
    defined = {id(var): row for row, eqn in equations for var in eqn.outvars}
    edges = [(row, defined[id(var)]) for row, eqn in equations for var in eqn.invars if id(var) in defined]
    user, operand = np.array(edges, np.int64).reshape(-1, 2).T
    home = np.full(n, -1, np.int64)
    for row, eqn in equations:
        for inner in jax_private.inner_equations(eqn):
            if (place := row_of.get(id(inner))) is not None and home[place] < 0:
                home[place] = row
    none = np.zeros(0, np.int64)
    return links.Graph((operand, user), (user, operand), (none, none), home)


def frame_reader(table: FrameTable) -> Callable[[Any], int]:
    """A function from an equation to the frame of its stack, -1 without; remembers what it resolved."""
    places: dict[tuple[int, int], Location | None] = {}
    known: dict[int, int] = {}
    limit = jax_private.frame_limit()

    def place(code: Any, last: int) -> Location | None:
        key = (id(code), last)
        if key not in places:
            outside = is_outside(code.co_filename)
            places[key] = None if outside else _location(code, last)
        return places[key]

    def frame_of(eqn: Any) -> int:
        stack = jax_private.stack_identity(eqn)
        if stack not in known:
            known[stack] = added(eqn)
        return known[stack]

    def added(eqn: Any) -> int:
        stack = []
        for i, (code, last) in enumerate(jax_private.raw_frames(eqn)):
            where = place(code, last)
            if where is None or i >= limit:
                break
            stack.append(where)
        frame = -1
        for where in reversed(stack):
            frame = table.add(where, frame)
        return frame

    return frame_of


def _location(code: Any, last: int) -> Location:
    line, column, end_line, end_column = jax_private.frame_position(code, last)
    file = jax_private.canonical_file(code.co_filename)
    return Location(file, code.co_qualname, line, column + 1, end_line, end_column + 1)
