"""Which lines of a source file took part in a program: of whole functions, and of single calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

Region = tuple[int, int]
"""First and last line, from 1."""
_SCOPE = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_LOCALS = ".<locals>"


class UsedPlace(NamedTuple):
    """An expression that a frame is in."""

    line: int
    end_line: int
    """`line`, `end_line`: its lines, from 1."""
    function: str = "<module>"
    """The qualified name of the function that it is in, such as "Net.__call__"; "<module>" in none."""
    alone: bool = False
    """Whether the expression is shown without the function around it."""


class _Function(NamedTuple):
    name: str
    lines: Region
    headers: tuple[Region, ...]


def regions(source: Sequence[str], places: Iterable[UsedPlace], is_traced: bool = True) -> list[Region]:
    """The lines that took part, in order and apart: the functions around the places, with the heads of their classes.

    A place in no function, or in a file that cannot be parsed, is shown alone. Of a text that is not the one that was
    traced, whose lines may be any, the functions of the same names are shown.
    """
    functions, taken = list(_functions(_parsed(source))), set()
    for place in places:
        around = [] if place.alone else _around(functions, place, is_traced)
        taken |= {lines for function in around for lines in (function.lines, *function.headers)}
        if is_traced and not around:
            taken.add((place.line, max(place.line, place.end_line)))
    return _joined(sorted(taken), source)


def called_at(source: Sequence[str], function: str) -> Iterator[UsedPlace]:
    """The magics at the top of a cell, and the calls of the function in its last statements."""
    for line in takewhile(lambda line: source[line - 1].startswith(("# %%", "#\n")), range(1, len(source) + 1)):
        if source[line - 1].startswith("# %%"):
            yield UsedPlace(line, line, alone=True)
    for node in reversed(getattr(_parsed(source), "body", [])):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            break
        if ast.unparse(node.value.func).rpartition(".")[2] == function:
            yield UsedPlace(node.lineno, node.end_lineno or node.lineno, alone=True)


def _parsed(source: Sequence[str]) -> ast.AST:
    try:
        return ast.parse("".join(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _functions(node: ast.AST, inside: str = "", headers: tuple[Region, ...] = ()) -> Iterator[_Function]:
    """All functions of a file, the outer before the inner."""
    pending = [(child, inside, headers) for child in ast.iter_child_nodes(node)]
    while pending:
        child, inside, headers = pending.pop()
        if isinstance(child, _SCOPE):
            name = inside + getattr(child, "name", "<lambda>")
            yield _Function(name, _lines(child), headers)
            inside = f"{name}{_LOCALS}."
        elif isinstance(child, ast.ClassDef):
            inside, headers = f"{inside}{child.name}.", (*headers, _head(child))
        pending += [(inner, inside, headers) for inner in ast.iter_child_nodes(child)]


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Region:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno


def _head(node: ast.ClassDef) -> Region:
    """The line "class Net(Module):", with the bases that stand on lines of their own."""
    bases = [*node.bases, *(keyword.value for keyword in node.keywords)]
    return node.lineno, max([node.lineno, *(base.end_lineno or node.lineno for base in bases)])


def _around(functions: Sequence[_Function], place: UsedPlace, is_traced: bool) -> list[_Function]:
    """The functions with the place's name, and its line too where the text is the one that was traced."""
    name = _of_function(place.function)
    there = [f for f in functions if name and (not is_traced or f.lines[0] <= place.line <= f.lines[1])]
    return [f for f in there if f.name == name] or [f for f in there if f.name.endswith(f".{name}")]


def _of_function(name: str) -> str:
    """The function's name where a comprehension's is given; "" outside functions."""
    while name.endswith(_COMPREHENSIONS):
        name = name.rpartition(".")[0].removesuffix(_LOCALS)
    return "" if name == "<module>" else name


def _joined(taken: Iterable[Region], source: Sequence[str]) -> list[Region]:
    """The regions with those joined that overlap, or that only blank lines are between."""
    joined: list[Region] = []
    for start, end in taken:
        start, end = max(start, 1), min(end, len(source))
        if start > end:
            continue
        if joined and all(not line.strip() for line in source[joined[-1][1] : start - 1]):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined
