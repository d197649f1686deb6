"""A jaxpr as a Document: JAX's own text, with each line tied to its equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxstage_ext.core import jax_private
from jaxstage_ext.ir import folds
from jaxstage_ext.ir.source import FrameTable, Location, is_outside
from jaxstage_ext.report import GRADIENT, OP, Document


def read(jaxpr: Any, table: FrameTable) -> Document:
    """The document of a (closed) jaxpr; its stacks go into `table`."""
    text, source_map = jax_private.print_jaxpr(jaxpr)
    lines = text.split("\n")
    n = len(lines)
    frame, scope = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    flags = np.zeros(n, np.uint8)
    scopes: dict[str, int] = {}
    frame_of = _frame_reader(table)
    seen: set[int] = set()
    for row, spans in enumerate(source_map[:n]):
        if not spans:
            continue
        eqn = spans[0][2]
        name = jax_private.name_stack(eqn)
        frame[row] = frame_of(eqn)
        scope[row] = scopes.setdefault(name, len(scopes)) if name else -1
        first = id(eqn) not in seen
        seen.update(id(span[2]) for span in spans)
        flags[row] = (OP if first else 0) | (GRADIENT if "transpose(" in name else 0)
    return Document("jaxpr", text, table.freeze(), frame, flags, folds.by_brackets(lines), scope, tuple(scopes))


def _frame_reader(table: FrameTable) -> Callable[[Any], int]:
    """A function from an equation to the frame of its stack; remembers what it resolved."""
    places: dict[tuple[int, int], Location | None] = {}
    limit = jax_private.frame_limit()

    def place(code: Any, last: int) -> Location | None:
        key = (id(code), last)
        if key not in places:
            outside = is_outside(code.co_filename)
            places[key] = None if outside else _location(code, last)
        return places[key]

    def frame_of(eqn: Any) -> int:
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
    return Location(code.co_filename, code.co_qualname, line, column + 1, end_line, end_column + 1)
