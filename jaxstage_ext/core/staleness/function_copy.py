"""A function as an object that JAX has never seen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from jaxstage_ext.report.text.bounded_repr import function_name, type_name


def function_copy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function as an object that JAX has never seen, so that it is traced anew whatever it read at earlier traces.

    No frame is added, and the name, the signature and the messages of errors are the function's own. What JAX gives
    to `jax.jit` of an object that cannot be hashed is an error; here it has the type's name.
    """
    if isinstance(fn, FunctionType):
        return _copy(fn)
    if isinstance(fn, MethodType) and isinstance(fn.__func__, FunctionType) and _is_hashable(fn.__self__):
        return MethodType(_copy(fn.__func__), fn.__self__)
    if isinstance(fn, staticmethod):
        return fn  # which JAX refuses
    anew = functools.partial(fn)
    if not _is_hashable(fn):
        anew.__dict__["__name__"] = function_name(fn) or type_name(fn)
    return anew


def _copy(fn: FunctionType) -> FunctionType:
    copied = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    copied.__kwdefaults__, copied.__doc__, copied.__module__ = fn.__kwdefaults__, fn.__doc__, fn.__module__
    copied.__qualname__ = fn.__qualname__
    copied.__dict__.update(fn.__dict__)
    return copied


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
