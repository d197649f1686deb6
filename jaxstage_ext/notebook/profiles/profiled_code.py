"""What a cell or a line gives to profile: its last statements, and whether they are one call."""

from __future__ import annotations

import ast

from IPython.core.error import UsageError

from jaxstage_ext.report.text.shortened import shortened

_PROFILED = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.With, ast.Try, ast.If)
_PROFILED_ASYNC = (ast.AsyncFor, ast.AsyncWith)
_ASKS_AGAIN = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_LOOKS_AT_RESULTS = frozenset(("block_until_ready", "print", "float", "item"))
_LONGEST_TITLE = 60


def last_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a cell's last line, and what is before them where they only wait for results or show them.

    Raises UsageError where there is nothing to profile.
    """
    if not body or not isinstance(body[-1], _PROFILED + _PROFILED_ASYNC):
        what = f"its last statement is {title(body[-1:])}" if body else "it is empty"
        raise UsageError(
            f"nothing to profile in this cell ({what}); end it with a call, an assignment or a loop, "
            "or put the call on the magic's line"
        )
    last: list[ast.stmt] = [body[-1]]
    for node in reversed(body[:-1]):
        if not isinstance(node, _PROFILED + _PROFILED_ASYNC):
            break
        if node.end_lineno != body[-1].lineno and not _only_looks_at_results(last):
            break
        last.insert(0, node)
    return last


def _only_looks_at_results(body: list[ast.stmt]) -> bool:
    """Whether statements only wait for results, show or convert them, so that the work is in those before."""
    return all(isinstance(node, ast.Expr) and _looks_at_result(node.value) for node in body)


def _looks_at_result(node: ast.expr) -> bool:
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    names = {part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "") for part in calls}
    return names <= _LOOKS_AT_RESULTS


def single_call(body: list[ast.stmt]) -> ast.Call | None:
    """The call that the statements are; None where they are anything else."""
    if len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Call):
        return body[0].value
    return None


def asks_again(call: ast.Call) -> bool:
    """Whether evaluating the call's arguments runs code of their own, such as `next(batches)`."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(node, _ASKS_AGAIN) for part in given for node in ast.walk(part))


def title(body: list[ast.stmt]) -> str:
    """The statements in one short line; of a block, its head."""
    text = "; ".join(ast.unparse(node).split("\n")[0].removesuffix(":") for node in body)
    text = " ".join(text.split())
    return shortened(text, _LONGEST_TITLE)
