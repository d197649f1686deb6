"""What the cells of a marimo notebook are called, by the file names of their code.

marimo compiles a cell under a name that ends in `__marimo__cell_Hbol_.py` and keeps its text in `linecache`. What the
author calls the cell is in the notebook's file alone.
"""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Iterable
from typing import NamedTuple

MARK = "__marimo__cell_"
_END = "_.py"
_UNNAMED = ("_", "__")
_CELLS = ("cell", "function", "class_definition")
"""Decorators of an app's cells."""
_known: dict[str, str] = {}
"""The names of cells by their file names, for texts that are not saved yet."""


class WrittenCell(NamedTuple):
    """A cell as the notebook's file has it.

    Attributes:
      name: what the author calls it, "_" where it has no name.
      lines: its lines without blank ones and without indentation, with what marimo writes above them.
      above: how many of them are marimo's own.
    """

    name: str
    lines: tuple[str, ...]
    above: int

    def is_of(self, text: tuple[str, ...]) -> bool:
        """Whether a cell of this text is written here; `text` is without blank lines and indentation."""
        over = len(self.lines) - len(text)
        return 0 <= over <= self.above and self.lines[over:] == text


def label_of(file: str) -> str | None:
    """`cell step` where the author named it, else `cell-3` as marimo's page counts, from 0; None for other files.

    Of a cell that is not in the notebook's file, or is there several times, it is marimo's own name, `cell Hbol`.
    """
    base = os.path.basename(file)
    if not (base.startswith(MARK) and base.endswith(_END)):
        return None
    name = _written_name(file)
    if name is not None:
        _known[file] = name
    return name or _known.get(file) or f"cell {base[len(MARK) : -len(_END)]}"


def _written_name(file: str) -> str | None:
    notebook = getattr(sys.modules.get("__main__"), "__file__", None)
    text = bare(linecache.getlines(file))
    if not isinstance(notebook, str) or not text:
        return None
    cells = _cells_in(notebook, _stamp(notebook))
    found = [number for number, cell in enumerate(cells) if cell.is_of(text)]
    if len(found) != 1:
        return None
    name = cells[found[0]].name
    return f"cell-{found[0]}" if name in _UNNAMED else f"cell {name}"


def _stamp(path: str) -> tuple[int, int]:
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return about.st_mtime_ns, about.st_size


@functools.lru_cache(maxsize=4)
def _cells_in(path: str, stamp: tuple[int, int]) -> tuple[WrittenCell, ...]:
    try:
        with open(path, encoding="utf-8") as file:
            return written_cells(file.read())
    except (OSError, ValueError):
        return ()


def written_cells(text: str) -> tuple[WrittenCell, ...]:
    """The cells of a notebook's file, in its order; none where the text is not Python."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    lines = text.splitlines()
    return tuple(cell for node in body if (cell := _cell(node, lines)) is not None)


def _cell(node: ast.stmt, lines: list[str]) -> WrittenCell | None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        kind = next((kind for kind in map(_of_app, node.decorator_list) if kind in _CELLS), "")
        if kind == "cell":
            end = node.body[-1].lineno - 1 if isinstance(node.body[-1], ast.Return) else node.end_lineno
            return _written(node.name, lines, node.decorator_list[0].lineno, node.body[0].lineno, end)
        first = node.decorator_list[0].lineno if kind else node.lineno
        return _written(node.name, lines, first, node.lineno, node.end_lineno) if kind else None
    if isinstance(node, ast.With) and _of_app(node.items[0].context_expr) == "setup":
        return _written("setup", lines, node.lineno, node.body[0].lineno, node.end_lineno)
    is_broken = isinstance(node, ast.Expr) and _of_app(node.value) == "_unparsable_cell"
    return WrittenCell("_", (), 0) if is_broken else None


def _of_app(node: ast.expr) -> str:
    """`cell` of `app.cell` and `app.cell(hide_code=True)`; "" of what is not the app's."""
    node = node.func if isinstance(node, ast.Call) else node
    is_apps = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "app"
    return node.attr if is_apps and isinstance(node, ast.Attribute) else ""


def _written(name: str, lines: list[str], first: int, body: int, end: int | None) -> WrittenCell:
    """The cell from line `first` to line `end`, whose own code begins at line `body` or in comments above it."""
    return WrittenCell(name, bare(lines[first - 1 : end]), len(bare(lines[first - 1 : body - 1])))


def bare(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without blank ones and without indentation, which differs between a cell and the notebook's file."""
    return tuple(line for line in map(str.strip, lines) if line)
