"""Errors of arguments that JAX cannot trace or XLA cannot compile: no arrays, no hash, symbolic sizes."""

from __future__ import annotations

import re

import jax

from jaxstage_ext.core.given import symbolic
from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.text.units import with_article

_REFUSED = re.compile(
    r"Error interpreting argument to .{1,500}? as an abstract array\. The problematic value is of type "
    r"<class '(?:[\w.]{0,200}\.)?(\w{1,100})'> and was passed to the function at path ([^\s,]{1,200}?)\.?(?:\s|$)",
    re.DOTALL,
)


def no_array(program: Program, error: StageError) -> str | None:
    """Which argument is no array, and how to make it static; None for another error."""
    refused = _REFUSED.search(error.message)
    if refused is None:
        return None
    kind, path = refused.groups()
    name, what = re.match(r"\w+", path), f"{path} is {with_article(kind)}, not an array"
    if path.isidentifier() and name is not None:
        return f"{what}: make it static with static_argnames={path!r} of jax.jit, or bind it."
    return f"{what}: leave it out of the arguments, or bind it with functools.partial."


def symbolic_axis(program: Program, error: StageError) -> str | None:
    """Which axes have no size; None for a program without such axes, and for one that was not traced."""
    if error.stage == TRACE:
        return None
    axes = sorted(symbolic.names(jax.tree.leaves((program.call.args, dict(program.call.kwargs)))))
    return f"{symbolic.missing(axes)}." if axes else None


_COMPARISON = re.compile(
    r"Symbolic dimension comparison '([^'\n]{1,200})' (>=|<=|==|!=|>|<) '([^'\n]{1,200})' is inconclusive"
)
_NEITHER = "is so for some sizes and not for others, so JAX cannot trace one program for all"


def inconclusive_size(program: Program, error: StageError) -> str | None:
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


_UNHASHABLE = re.compile(r"[Nn]on-hashable static arguments")
_INSTEAD: dict[type, str] = {list: "a tuple", set: "a frozenset", dict: "a tuple of its items", bytearray: "bytes"}


def unhashable_static(program: Program, error: StageError) -> str | None:
    """Which static argument has no hash, and what to pass instead; None for another error."""
    if not _UNHASHABLE.search(error.message):
        return None
    call = program.call
    numbers, names = tracing.static_arguments(call.fn)
    try:
        given = signature_of(call.fn).bind(*call.args, **call.kwargs).arguments
    except (TypeError, ValueError):
        return None
    placed = list(given)
    static = {*names, *(placed[number] for number in numbers if -len(placed) <= number < len(placed))}
    for name in static & given.keys():
        value = given[name]
        if type(value).__hash__ is None:
            instead = _INSTEAD.get(type(value), "a value that has one, such as a frozen dataclass")
            what = with_article(type_name(value))
            return f"The static argument {name} is {what}, which has no hash; pass {instead}."
    return None
