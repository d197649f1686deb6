"""The calls that a statement holds, and what else there is to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_RUN_LATER = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Await


def holder(body: Sequence[ast.stmt]) -> ast.stmt | None:
    """The last statement, where it is not a call or a name by itself but may hold a call; None otherwise."""
    last = body[-1] if body else None
    value = value_of(last)
    if value is None or (isinstance(last, ast.Expr) and isinstance(value, ast.Call | ast.Name)):
        return None
    return last if any(outer_calls(value)) else None


def value_of(statement: ast.stmt | None) -> ast.expr | None:
    """What a statement evaluates: an expression, or an assignment's right-hand side."""
    kinds = ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign
    return statement.value if isinstance(statement, kinds) else None


def outer_calls(node: ast.AST) -> Iterator[ast.Call]:
    """The outermost calls of an expression that run when it does, but for those of IPython's magics."""
    if isinstance(node, ast.Call):
        if not is_magic(node):
            yield node
    elif not isinstance(node, _RUN_LATER):
        for child in ast.iter_child_nodes(node):
            yield from outer_calls(child)


def is_magic(call: ast.Call) -> bool:
    """Whether IPython made the call from `!ls`, `%time x` or `x?`: a call on `get_ipython()`."""
    return ast.unparse(call.func).startswith("get_ipython().")


def with_values(statement: ast.stmt, values: dict[ast.Call, str]) -> ast.stmt:
    """The statement with names in the place of calls."""

    class Replaced(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            if node in values:
                return ast.copy_location(ast.Name(values[node], ast.Load()), node)
            return self.generic_visit(node)

    return ast.fix_missing_locations(Replaced().visit(statement))  # type: ignore[no-any-return]


def targets(statement: ast.stmt) -> list[str]:
    """What a statement assigns, as code."""
    assigned = [*getattr(statement, "targets", []), *([statement.target] if hasattr(statement, "target") else [])]
    walrus = [node.target for node in ast.walk(statement) if isinstance(node, ast.NamedExpr)]
    return [ast.unparse(target).removeprefix("(").removesuffix(")") for target in [*assigned, *walrus]]
