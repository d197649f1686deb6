"""Which function a cell and its magic's line name, and with which arguments."""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import sys
import types
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.core.call import has_method
from jaxstage_ext.notebook.lines.annotations import NoShape, describe_arguments, parameters, shape_from
from jaxstage_ext.notebook.lines.arguments import Dims, Given
from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.text.shortened import shortened
from jaxstage_ext.report.text.units import with_article

_TRACEABLE_BUILTINS = {abs, sum, max, min, pow, round, divmod}
_LONGEST_NAME = 60


class NoArguments(Exception):
    """Neither a call, --args, annotations nor defaults give a function's arguments."""


def parts(call: ast.Call) -> ast.expr:
    """An expression for (function, arguments, a mapping per keyword) of a call, which evaluates all but the call."""
    keywords = [ast.Dict([ast.Constant(k.arg) if k.arg else None], [k.value]) for k in call.keywords]
    tuples = [ast.Tuple(list(call.args), ast.Load()), ast.Tuple(list(keywords), ast.Load())]
    whole = ast.Tuple([call.func, *tuples], ast.Load())
    return ast.fix_missing_locations(ast.copy_location(whole, call))


def merged(name: str, mappings: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    """The keyword arguments of a call. Raises UsageError for one that is given twice."""
    kwargs: dict[str, Any] = {}
    for mapping in mappings:
        if twice := kwargs.keys() & mapping.keys():
            raise UsageError(f"{name}() got multiple values for keyword argument {min(twice)!r}")
        kwargs |= mapping
    return kwargs


def title(node: ast.expr) -> str:
    """The function's expression, as the title of the panel."""
    text = " ".join(ast.unparse(node).split())
    text = f"({text})" if isinstance(node, ast.Lambda) else text
    return shortened(text, _LONGEST_NAME)


def lookup(name: str, namespace: Mapping[str, Any]) -> Any:
    """The value of a name at the prompt; None if it has none."""
    return namespace.get(name, getattr(builtins, name, None))


def why_not(fn: Any) -> str | None:
    """Why a value cannot be staged, to follow its name; None if it can."""
    if is_given(fn):
        return None
    if not callable(fn):
        return f"is {with_article(type_name(fn))}, not a function"
    if isinstance(fn, type):
        return "is a class; stage a function or a method"
    if inspect.iscoroutinefunction(fn) or inspect.isasyncgenfunction(fn):
        return "is a coroutine function, and JAX traces only ordinary functions"
    if getattr(fn, "__module__", None) == "IPython.core.display_functions":
        return "is not a JAX function"
    if (
        isinstance(fn, types.BuiltinFunctionType)
        and fn.__module__ == builtins.__name__
        and fn not in _TRACEABLE_BUILTINS
    ):
        return "is a Python builtin, not a JAX function"
    return None


def is_given(value: Any) -> bool:
    """Whether a value is a Traced, Lowered, Compiled, Exported or ClosedJaxpr of JAX's."""
    if "jax" not in sys.modules:
        return False
    from jaxstage_ext.core.given import given_call

    return given_call.is_given(value)


def makes_stage_object(fn: Any) -> bool:
    """Whether a call of it gives such an object: `jax.jit(f).lower`, `export(f)`, `make_jaxpr(f)`."""
    if "jax" not in sys.modules:
        return False
    from jaxstage_ext.core.jax_private import given_objects

    return given_objects.makes_stage_object(fn)


def is_function(value: Any) -> bool:
    """Whether a value that a cell defines is a function to stage."""
    if is_given(value):
        return True
    return callable(value) and not isinstance(value, type) and (
        isinstance(value, types.FunctionType) or has_method(value, "lower") or has_method(value, "__wrapped__")
        or type_name(value) == "partial"
    )  # fmt: skip


def roots(functions: Mapping[str, set[str]]) -> list[str]:
    """The functions of a cell that no other function of it uses; all of them when they use each other."""
    used = {name for own, names in functions.items() for name in names if name != own}
    return [name for name in functions if name not in used] or list(functions)


def arguments(fn: Any, name: str, given: Given | None, dims: Dims) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments to stage a function with: those of `given`, then those of annotations. Defaults stay as they are.

    Raises UsageError when `given` does not fit, NoArguments when a parameter is left without a value.
    """
    known = parameters(fn)
    if known is None:
        if given is None:
            raise NoArguments(f"{name}: its signature is unknown to Python")
        return given.args, dict(given.kwargs)
    bound = _bind(known, name, given or Given())
    trusted = describe_arguments(fn)
    for parameter in known:
        if parameter.name not in bound and _must_be_given(parameter):
            bound[parameter.name] = _annotated(parameter, name, trusted, dims)
    return _ordered(known, bound)


def _annotated(parameter: inspect.Parameter, name: str, trusted: bool, dims: Dims) -> Any:
    if not trusted:
        raise NoArguments(
            f"{name}: parameter {parameter.name} has no shape, because its annotation is that of the inner function"
        )
    try:
        return shape_from(parameter.annotation, dims)
    except NoShape as reason:
        raise NoArguments(f"{name}: parameter {parameter.name} {reason}") from None


def _must_be_given(parameter: inspect.Parameter) -> bool:
    variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not variable


def _bind(known: list[inspect.Parameter], name: str, given: Given) -> dict[str, Any]:
    """Named values go to their parameters, the others to the remaining parameters in order."""
    names = {p.name for p in known if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY)}
    rest = next((p.name for p in known if p.kind is p.VAR_KEYWORD), None)
    bound: dict[str, Any] = {key: value for key, value in given.kwargs.items() if key in names}
    if extra := {key: value for key, value in given.kwargs.items() if key not in names}:
        if rest is None:
            raise UsageError(_no_such(name, next(iter(extra)), sorted(names)))
        bound[rest] = extra
    places = [p for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name not in bound]
    for parameter, value in zip(places, given.args, strict=False):
        bound[parameter.name] = value
    if more := given.args[len(places) :]:
        variable = next((p.name for p in known if p.kind is p.VAR_POSITIONAL), None)
        if variable is None:
            wanted = ", ".join(p.name for p in known)
            raise UsageError(
                f"--args gives {len(given.args) + len(given.kwargs)} arguments, but {name}({wanted}) takes fewer"
            )
        bound[variable] = more
    return bound


def _no_such(name: str, wrong: str, names: list[str]) -> str:
    near = difflib.get_close_matches(wrong, names, n=1)
    return f"--args: {name} has no parameter {wrong!r}; " + (
        f"did you mean {near[0]}?" if near else f"its parameters are {', '.join(names)}"
    )


def _ordered(known: list[inspect.Parameter], bound: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values by position as long as no parameter is skipped, then by name."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    by_name = False
    for parameter in known:
        by_name |= parameter.kind is parameter.KEYWORD_ONLY
        if parameter.name not in bound:
            by_name |= parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs |= bound[parameter.name]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            args += bound[parameter.name]
        elif by_name:
            kwargs[parameter.name] = bound[parameter.name]
        else:
            args.append(bound[parameter.name])
    return tuple(args), kwargs
