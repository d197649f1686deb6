"""Diffs that constrain a value once more before a `with_sharding_constraint` of the user's."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxstage_ext.findings import code_change
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.program.program import Program

_CONSTRAINT = "with_sharding_constraint"


def before(program: Program, place: EquationPlace, specs: Sequence[str]) -> str:
    """A diff that adds a line for each spec before a line `y = …with_sharding_constraint(x, …)`; "" elsewhere."""
    lines = code_change.source_lines(program, place.file) if place.file else ()
    if not 0 < place.line <= len(lines):
        return ""
    old = lines[place.line - 1]
    call = _constraint(old.strip())
    if call is None:
        return ""
    indent, function = old[: len(old) - len(old.lstrip())], ast.unparse(call.func)
    value, given = ast.unparse(call.args[0]), call.args[1]
    added = [f"{indent}{value} = {function}({value}, {_sharding(given, one)})" for one in specs]
    return code_change.diff(program, place.file, {place.line: (*added, old)})


def _constraint(line: str) -> ast.Call | None:
    """The call on a line that does nothing but constrain a variable."""
    try:
        [statement] = ast.parse(line).body
    except (SyntaxError, ValueError):
        return None
    call = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
    if not isinstance(call, ast.Call) or len(call.args) != 2 or not isinstance(call.args[0], ast.Name):
        return None
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return call if name == _CONSTRAINT else None


def _sharding(given: ast.expr, spec: str) -> str:
    """What stands for a spec where the user wrote a PartitionSpec, a NamedSharding or a variable of one."""
    if isinstance(given, ast.Call):
        name = ast.unparse(given.func)
        if name.rpartition(".")[2] in ("P", "PartitionSpec"):
            return spec.replace("P(", f"{name}(", 1)
        if name.rpartition(".")[2] == "NamedSharding" and given.args:
            return f"{name}({ast.unparse(given.args[0])}, jax.{spec})"
    return f"jax.NamedSharding({ast.unparse(given)}.mesh, jax.{spec})"
