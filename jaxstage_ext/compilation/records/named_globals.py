"""The global variables that a function names, as they were when it was traced. None of the user's code runs."""

from __future__ import annotations

import functools
import weakref
from types import CodeType, FunctionType, ModuleType
from typing import Any

from jaxstage_ext.compilation.records.compile_record import NamedGlobal
from jaxstage_ext.compilation.records.function_identity import innermost_function
from jaxstage_ext.compilation.records.value_keeping import kept_value, type_path
from jaxstage_ext.ir.sources.source import is_outside, is_user

_MOST_FUNCTIONS, _MOST_NAMES = 16, 64


def named_globals(fn: Any) -> tuple[NamedGlobal, ...]:
    """What a function that was given to `jax.jit` names, and the functions of the user's that it names in turn."""
    root = innermost_function(fn)
    waiting: list[Any] = [root]
    seen: set[CodeType] = set()
    named: list[NamedGlobal] = []
    while waiting and len(seen) < _MOST_FUNCTIONS and len(named) < _MOST_NAMES:
        function = waiting.pop(0)
        if type(function) is not FunctionType or function.__code__ in seen or not is_of_user(function):
            continue
        code, space = function.__code__, function.__globals__
        seen.add(code)
        owner = weakref.ref(root if root.__globals__ is space else function)
        for name in _names(code):
            value = dict.get(space, name, space)
            if value is space or issubclass(type(value), ModuleType | type):
                continue
            inner = python_function(value)
            if inner is not None:
                waiting.append(inner)
            if inner is not None or not callable(value):
                named.append(NamedGlobal(name, kept_value(name, inner or value), owner, code))
    return tuple(named[:_MOST_NAMES])


def python_function(value: Any) -> FunctionType | None:
    """A function of the user's, or that inside a jitted one; None for other values."""
    inner = value if type(value) is FunctionType else innermost_function(value) if _is_jitted(value) else None
    return inner if type(inner) is FunctionType and is_of_user(inner) else None


def is_of_user(function: FunctionType) -> bool:
    """Whether a function is from a cell or a file of the user's."""
    return _is_users_file(function.__code__.co_filename)


@functools.lru_cache(maxsize=4096)
def _is_users_file(file: str) -> bool:
    return is_user(file) and not is_outside(file)


def _is_jitted(value: Any) -> bool:
    return type_path(type(value)).startswith("jaxlib.") and callable(value)


@functools.lru_cache(maxsize=4096)
def _names(code: CodeType) -> tuple[str, ...]:
    """Those of variables and attributes, in the functions inside it too."""
    inner = (name for const in code.co_consts if type(const) is CodeType for name in _names(const))
    return tuple(dict.fromkeys((*code.co_names, *inner)))
