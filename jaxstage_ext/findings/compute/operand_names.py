"""What the user calls an operand without a name in the jaxpr: the variable that it is assigned to, or read from."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

import numpy as np

from jaxstage_ext.core.inputs.signatures import unwrapped
from jaxstage_ext.findings import code_change, equation_place, jit_site
from jaxstage_ext.program.program import Program


def assigned(program: Program, eqn: Any, user: Any) -> str:
    """The variable that the line of an equation is assigned to, where another line reads the result; "" without."""
    made, read = equation_place.places(program, [eqn, user])
    statement = _statement(program, made) if made.label != read.label else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    [target] = statement.targets
    return target.id if isinstance(target, ast.Name) else ""


def scalar(program: Program, value: float, user: Any) -> str:
    """The variable of the line that holds a NumPy scalar of this value; "" without, or where several do."""
    statement = _statement(program, equation_place.place(program, user))
    known = _variables(program.call.fn)
    read = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} if statement is not None else set()
    found = [name for name in sorted(read) if isinstance(one := known.get(name), np.generic) and _is(one, value)]
    return found[0] if len(found) == 1 else ""


def _is(scalar: np.generic, value: float) -> bool:
    return bool(np.issubdtype(scalar.dtype, np.number)) and bool(np.float64(scalar.real) == value)


def _statement(program: Program, place: equation_place.EquationPlace) -> ast.stmt | None:
    lines = code_change.source_lines(program, place.file) if place.file else ()
    tree = jit_site.parsed(lines) if lines else None
    if tree is None:
        return None
    held = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    return next((node for node in held if node.lineno <= place.line <= (node.end_lineno or node.lineno)), None)


def _variables(fn: Any) -> dict[str, Any]:
    """What a function reads by name from around it."""
    inner = unwrapped(fn)
    if not isinstance(inner, FunctionType):
        return {}
    cells = zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True)
    held = {}
    for name, cell in cells:
        try:
            held[name] = cell.cell_contents
        except ValueError:  # nothing was assigned to it yet
            continue
    return {**inner.__globals__, **held}
