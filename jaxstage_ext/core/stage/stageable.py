"""What JAX can stage of a call: the function that has stages, its name, its arguments, and what wrappers return."""

from __future__ import annotations

import functools
from dataclasses import replace
from types import CodeType, MethodType
from typing import Any

import jax

from jaxstage_ext.core.call import Call, has_method
from jaxstage_ext.core.inputs.signatures import unwrapped
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.staleness.function_copy import function_copy
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.report.text.bounded_repr import bounded_repr, type_name
from jaxstage_ext.report.text.units import with_article

_STAGE_OBJECTS = (jax.stages.Traced, jax.stages.Lowered, jax.stages.Compiled, Executable)


def function_of(staged: Staged) -> Any:
    """`stageable` of the call, made once."""
    if staged.function is None:
        staged.function = stageable(staged.call)
    return staged.function


def stageable(call: Call) -> Any:
    """An object with `.trace` or `.lower`: the function itself if it has one, else `jax.jit` of it, to be traced anew.

    Raises TypeError where there is nothing to stage, or where jit options are given
    for a function that is already jitted.
    """
    fn = call.fn
    if not callable(fn):
        raise TypeError(
            f"{bounded_repr(fn)} is {with_article(type_name(fn))}, not a function: there is nothing to stage"
        )
    if has_method(fn, "trace") or has_method(fn, "lower"):
        if call.jit:
            options = ", ".join(call.jit)
            raise TypeError(
                f"{call_name(call)} is already jitted, so {options} cannot be added; set it where it is jitted"
            )
        return fn
    return jax.jit(function_copy(fn), **call.jit, **(call.layout.jit if call.layout else {}))


def with_self(call: Call) -> Call:
    """The call, with the object of a jitted method as its first argument, as Python passes it."""
    fn = call.fn
    if type(fn) is MethodType and call.layout is None and has_method(fn.__func__, "trace"):
        return replace(call, fn=fn.__func__, args=(fn.__self__, *call.args))
    return call


def code_of(fn: Any) -> CodeType | None:
    """The code of a Python function, method or partial, whatever it is wrapped in; None where it has none."""
    try:
        fn = unwrapped(getattr(fn, "func", fn))
        code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    except Exception:  # of an attribute of the user's
        return None
    return code if isinstance(code, CodeType) else None


def call_name(call: Call) -> str:
    """What to title the call: its own name, the function's, or its type's."""
    fn: Any = call.fn
    name = call.name or call.texts.name_of(fn)
    if not name and issubclass(type(fn), functools.partial):  # `isinstance` would ask the function's own `__class__`
        name = call.texts.name_of(fn.func)
    return name or type_name(fn)


def unwrap(value: Any) -> Any:
    """JAX's own stage object inside a library's (equinox, flax.nnx); the value itself if it is JAX's or ours."""
    for _ in range(4):
        if value is None or isinstance(value, _STAGE_OBJECTS):
            return value
        value = next((getattr(value, name) for name in ("traced", "lowered", "compiled") if hasattr(value, name)), None)
    return None


def dynamic_arguments(staged: Staged) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The call's arguments as the executable takes them: without the static ones."""
    call = staged.call
    if call.given is not None or not isinstance(staged.value(COMPILE), jax.stages.Compiled):
        return call.args, dict(call.kwargs)
    numbers, names = tracing.static_arguments(function_of(staged))
    count = len(call.args)
    static = {n % count for n in numbers if -count <= n < count} if count else set()
    args = tuple(arg for i, arg in enumerate(call.args) if i not in static)
    return args, {k: v for k, v in call.kwargs.items() if k not in names}
