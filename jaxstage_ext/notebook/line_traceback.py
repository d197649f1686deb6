"""A traceback that points at a line which nothing was raised in."""

from __future__ import annotations

import ast
from types import TracebackType


class _Here(Exception):
    pass


def traceback_at(file: str, line: int) -> TracebackType | None:
    """A traceback of one frame, at this line of a file or cell; None where `line` is no line."""
    if line < 1:
        return None
    code = compile(ast.increment_lineno(ast.parse("raise here"), line - 1), file, "exec")
    try:
        exec(code, {"here": _Here})
    except _Here as raised:
        return raised.__traceback__ and raised.__traceback__.tb_next
    return None
