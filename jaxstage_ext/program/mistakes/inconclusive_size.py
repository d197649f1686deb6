"""A program that asks something of a symbolic size that is so for some of its values and not for others."""

from __future__ import annotations

import re

from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError

_COMPARISON = re.compile(
    r"Symbolic dimension comparison '([^'\n]{1,200})' (>=|<=|==|!=|>|<) '([^'\n]{1,200})' is inconclusive"
)
_NEITHER = "is so for some sizes and not for others, so JAX cannot trace one program for all"


def explanation(program: Program, error: StageError) -> str | None:
    """The constraint that makes it so and the one that makes it not so; None for another error."""
    if (found := _COMPARISON.search(error.message)) is None:
        return None
    left, operator, right = found.groups()
    so, otherwise = constraints(left, operator, right)
    how = "jax.export.symbolic_shape(..., constraints=[{!r}])"
    asked = f"{left} {operator} {right}"
    return f"{asked} {_NEITHER}. {how.format(so)} keeps the sizes for which it holds, {otherwise!r} others."


def constraints(left: str, operator: str, right: str) -> tuple[str, str]:
    """(What makes a comparison true, what makes it false), as `symbolic_shape` takes them: with >=, <= and == alone."""
    more, less = _plus(right, 1), _plus(right, -1)
    return {
        ">": (f"{left} >= {more}", f"{left} <= {right}"),
        ">=": (f"{left} >= {right}", f"{left} <= {less}"),
        "<": (f"{left} <= {less}", f"{left} >= {right}"),
        "<=": (f"{left} <= {right}", f"{left} >= {more}"),
        "==": (f"{left} == {right}", f"{left} >= {more}"),
        "!=": (f"{left} >= {more}", f"{left} == {right}"),
    }[operator]


def _plus(size: str, step: int) -> str:
    try:
        return str(int(size) + step)
    except ValueError:
        return f"{size} {'+' if step > 0 else '-'} 1"
