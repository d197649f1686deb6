"""Diffs that read what is needed of a carried array before a line writes into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jaxstage_ext.findings import code_change
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.program.program import Program

_UPDATES = ("dynamic_update_slice", "dynamic_update_index_in_dim", "dynamic_update_slice_in_dim")
_BARRIER = "jax.lax.optimization_barrier"


def read_first(program: Program, place: EquationPlace) -> str:
    """A diff with an optimization barrier before a line `x = x.at[…]…`, or the like; "" for a line of another form.

    The barrier has what earlier lines of the function read of x, as far as it is used at or after the line.
    """
    lines = code_change.source_lines(program, place.file) if place.file else ()
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return ""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for at, statement in enumerate(function.body):
            if statement.lineno == place.line and (name := _updated(statement)):
                kept = _kept(function.body, at, name)
                if not kept:
                    return ""
                names = ", ".join([*kept, name])
                old = lines[place.line - 1]
                indent = old[: len(old) - len(old.lstrip())]
                added = f"{indent}{names} = {_BARRIER}(({names}))"
                return code_change.diff(program, place.file, {place.line: (added, old)})
    return ""


def _updated(statement: ast.stmt) -> str:
    """The variable that a statement replaces by an update of itself, and reads for nothing else; "" otherwise."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id not in _bases(statement.value):
        return ""
    return target.id if list(_read(statement.value)).count(target.id) == 1 else ""


def _bases(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr == "at" and isinstance(node.value, ast.Name):
            yield node.value.id
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _UPDATES:
                yield node.args[0].id


def _kept(body: Sequence[ast.stmt], at: int, name: str) -> list[str]:
    """The variables that earlier statements compute of one and that this or later ones read."""
    used = {one for statement in body[at:] for one in _read(statement)}
    made = [
        statement.targets[0].id
        for statement in body[:at]
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and name in _read(statement.value)
    ]
    return [one for one in dict.fromkeys(made) if one in used and one != name]


def _read(tree: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
