"""The loop of a Python file that some of its expressions are in."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

_STATEMENTS = ast.For | ast.AsyncFor | ast.While
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Loop = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Place = tuple[int, int]
"""A line, from 1, and a column, from 0."""


def enclosing_loop(source: Sequence[str], places: Iterable[Place], since: int = 1) -> int:
    """The line of the innermost loop or comprehension that repeats what begins at all of these places; 0 for none.

    It begins at line `since` or later: at the function's own line, lest it be a loop around the function's definition.
    """
    first, *_, last = sorted(places) * 2
    try:
        nodes = ast.walk(ast.parse("".join(source)))
        loops = [node for node in nodes if isinstance(node, _STATEMENTS | _COMPREHENSIONS)]
        return max((loop.lineno for loop in loops if _repeats(loop, first, last) and loop.lineno >= since), default=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0


def _repeats(loop: _Loop, first: Place, last: Place) -> bool:
    """Whether the places are in the loop's body, not in its `else` or its head alone."""
    begin, end = (loop.body[0], loop.body[-1]) if isinstance(loop, _STATEMENTS) else (loop, loop)
    return _begin(begin) <= first and last <= _end(end)


def _begin(node: ast.stmt | ast.expr) -> Place:
    return node.lineno, node.col_offset


def _end(node: ast.stmt | ast.expr) -> Place:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
