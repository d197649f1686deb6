"""Python names of the arrays and Refs that a function closes over, and arguments without values."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

import jax
import numpy as np

from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.inputs.signatures import unwrapped
from jaxstage_ext.core.jax_private import refs
from jaxstage_ext.core.jax_private.refs import CAPTURED, Namer
from jaxstage_ext.report.text.bounded_repr import function_name, plain_repr, type_name

_MOST = 20_000
"""The most values to visit."""
_DEEP = 6
_DATA = (jax.Array, np.ndarray, dict, list, tuple)
_LARGEST = 1 << 28
"""Bytes of an array of NumPy's that is compared with what JAX made of it."""


def names(fn: Any, arrays: Iterable[Any]) -> list[tuple[str, ...]]:
    """The Python names by which the function reaches each array: "params['w']", "model.kernel".

    Follows closures, globals, defaults, bound objects and their contents, without calling properties. An array that
    JAX converted from another value has no names, but for a NumPy array of the same values.
    """
    arrays = list(arrays)
    names_of: dict[int, list[str]] = {id(array): [] for array in arrays}
    converted = [array for array in arrays if not isinstance(array, jax.Array)]
    for name, value in _reached(fn):
        same = [value] if id(value) in names_of else [array for array in converted if _is_same(array, value)]
        for array in same:
            if name not in names_of[id(array)]:
                names_of[id(array)].append(name)
    return [tuple(names_of[id(array)]) for array in arrays]


def _is_same(array: Any, value: Any) -> bool:
    """Whether JAX made an array of a NumPy array of the user's, which it may have copied."""
    if type(value) is not np.ndarray or value.size * value.itemsize > _LARGEST:
        return False
    made = np.asarray(array)
    alike = made.shape == value.shape and made.dtype == value.dtype and made.dtype.hasobject is False
    return alike and bool(np.shares_memory(made, value) or np.array_equal(made, value))


def _reached(fn: Any) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    todo = deque((name, value, 0) for name, value in _of_function(fn))
    while todo and len(seen) < _MOST:
        name, value, depth = todo.popleft()
        yield name, value
        if id(value) in seen or depth >= _DEEP:
            continue
        seen.add(id(value))
        with contextlib.suppress(Exception):  # of an attribute of the user's
            todo.extend((inner, held, depth + 1) for inner, held in _held(name, value))


def _held(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{name}[{plain_repr(key)}]", held) for key, held in list(dict.items(value))[:_MOST])
    elif isinstance(value, list | tuple):
        yield from ((f"{name}[{i}]", held) for i, held in enumerate(value[:_MOST]))
    elif _is_callable(value):
        yield from _of_function(value)
        if not isinstance(value, FunctionType | MethodType | functools.partial):
            yield from _attributes(name, value)
    elif isinstance(value, type):
        yield from _of_class(name, value)
    elif not isinstance(value, jax.Array) and not inspect.ismodule(value):
        yield from _attributes(name, value)


def _attributes(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    own: dict[str, Any] = {}
    with contextlib.suppress(TypeError):
        own = {f"{name}.{key}": held for key, held in vars(value).items() if isinstance(key, str)}
    yield from own.items()
    yield from ((reached, held) for reached, held in _of_class(name, type(value)) if reached not in own)


def _of_class(name: str, kind: type) -> Iterator[tuple[str, Any]]:
    """The arrays, and the containers that may hold some, that are attributes of a class itself."""
    for each in kind.__mro__:
        yield from (
            (f"{name}.{key}", held)
            for key, held in list(vars(each).items())
            if issubclass(type(held), _DATA) and not key.startswith("__")
        )


def _is_callable(value: Any) -> bool:
    return isinstance(value, FunctionType | MethodType | functools.partial) or hasattr(value, "__wrapped__")


def _of_function(fn: Any) -> Iterator[tuple[str, Any]]:
    """The values that a function's code can name, looking through wrappers."""
    inner = unwrapped(fn)
    fn = fn if inner is None else inner
    if isinstance(fn, functools.partial):
        yield from _of_function(fn.func)
        yield from ((f"{_title(fn.func)}(…)[{i}]", value) for i, value in enumerate(fn.args))
        yield from fn.keywords.items()
        return
    if isinstance(fn, MethodType):
        yield "self", fn.__self__
        fn = fn.__func__
    if not isinstance(fn, FunctionType):
        yield _title(fn), fn
        return
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents
    for name in _mentioned(fn.__code__):
        if name in fn.__globals__:
            yield name, fn.__globals__[name]
    arguments = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    defaults = fn.__defaults__ or ()
    yield from zip(arguments[len(arguments) - len(defaults) :], defaults, strict=False)
    yield from (fn.__kwdefaults__ or {}).items()


def _mentioned(code: CodeType) -> set[str]:
    inner = (_mentioned(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def _title(fn: Any) -> str:
    return function_name(fn) or type_name(fn)


def namer(fn: Any) -> Namer:
    """Names by which the function reaches its Refs, "state.count"; the same for all where it does not say."""

    def named(refs: Sequence[Any]) -> list[str]:
        found = captured.names(fn, refs) if refs else []
        return [names[0] if names else CAPTURED for names in found]

    return named


_CONVERTING = ("__jax_array__", "__array__", "__cuda_array_interface__")


def is_valueless(leaf: object) -> bool:
    """Whether a leaf is a `jax.ShapeDtypeStruct`, or an object of the user's that stands for one."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return True
    if isinstance(leaf, jax.Array | np.ndarray | np.generic | int | float | complex) or refs.is_ref(leaf):
        return False
    try:
        has_type = isinstance(getattr(leaf, "shape", None), tuple) and hasattr(leaf, "dtype")
        return has_type and not any(hasattr(type(leaf), name) for name in _CONVERTING)
    except Exception:  # of code of the user's
        return False
