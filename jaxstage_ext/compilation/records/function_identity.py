"""What a jitted function is told apart by: its code, what is around it, and what it captured."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from itertools import islice
from types import FunctionType, MethodType
from typing import Any

from jaxstage_ext.compilation.records.compile_record import FunctionIdentity, KeptValue
from jaxstage_ext.compilation.records.value_keeping import (
    bases,
    has_plain_dict,
    kept_value,
    own_names,
    plain_text,
    type_path,
)
from jaxstage_ext.core.jax_private.compile_frames import is_jax
from jaxstage_ext.core.jax_private.transformations import captured_variables, given_options, transformation

_OF_PARTIAL = functools.partial.__dict__
_MOST_LAYERS, _MOST_VALUES, _MOST_BOUND, _MOST_PLAIN = 12, 16, 8, 1024


class _Unwrapping:
    """Goes from what was given to `jax.jit` to the innermost Python function."""

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.options: list[tuple[KeptValue, ...]] = []
        self.bound: list[KeptValue] = []
        self.captured: list[KeptValue] = []

    def innermost(self, fn: Any) -> Any:
        while len(self.layers) < _MOST_LAYERS:
            inner = self._inner(fn)
            self.options += [()] * (len(self.layers) - len(self.options))
            if inner is None:
                break
            fn = inner
        return fn

    def _inner(self, fn: Any) -> Any:
        """What is inside a wrapper, which is noted; None where there is nothing."""
        kind = type(fn)
        if issubclass(kind, functools.partial):
            return self._of_partial(fn)
        if kind is MethodType:
            self.layers.append("method")
            self.bound.append(kept_value("self", fn.__self__, depth=1))
            return fn.__func__
        if kind is FunctionType:
            return self._of_function(fn)
        if type_path(kind).startswith("jaxlib."):
            self.layers.append("jax.jit")
            return getattr(fn, "__wrapped__", None)
        return self._of_object(fn, kind)

    def _of_partial(self, fn: functools.partial[Any]) -> Any:
        self.layers.append("partial")
        args, keywords, inner = (_OF_PARTIAL[name].__get__(fn) for name in ("args", "keywords", "func"))
        given = [*((str(i), value) for i, value in enumerate(args)), *keywords.items()]
        self.bound += [kept_value(name, value) for name, value in given[:_MOST_BOUND]]
        return inner

    def _of_function(self, fn: FunctionType) -> Any:
        wrapped = fn.__dict__.get("__wrapped__")
        if wrapped is None:
            return None
        is_transform = is_jax(fn.__code__.co_filename)
        self.layers.append(_transform(fn) if is_transform else "wraps")
        if is_transform:
            self.options.append(_transform_options(fn, wrapped))
        else:
            self.captured += [value for value in _captured(fn) if value.identity != id(wrapped)]
        return wrapped

    def _of_object(self, fn: Any, kind: type) -> Any:
        """What a wrapping object wraps, else the `__call__` of a callable object."""
        if has_plain_dict(kind):
            wrapped = object.__getattribute__(fn, "__dict__").get("__wrapped__")
            if wrapped is not None:
                self.layers.append(type_path(kind).rpartition(".")[2])
                return wrapped
        called = next((own_names(base)["__call__"] for base in bases(kind) if "__call__" in own_names(base)), None)
        if type(called) is not FunctionType:
            return None
        self.layers.append("object")
        self.bound.append(kept_value("self", fn, depth=1))
        return called


def _transform(fn: FunctionType) -> str:
    """The transformation that made a function of JAX's."""
    inside = [value.__code__ for _, value in _cells(fn) if type(value) is FunctionType]
    return transformation(name for code in (fn.__code__, *inside) for name in (code.co_qualname, code.co_name))


def _transform_options(fn: FunctionType, wrapped: Any) -> tuple[KeptValue, ...]:
    """The options of a transformation that are plain values."""
    kept = (kept_value(name, value) for name, value in given_options(fn, wrapped).items())
    return tuple(value for value in kept if value.is_kept)


def innermost_function(fn: Any) -> Any:
    """The Python function inside a jitted one and its wrappers, or the callable that is no function."""
    if type(fn) is FunctionType and "__wrapped__" not in fn.__dict__:
        return fn
    return _Unwrapping().innermost(fn)


_plain: dict[int, FunctionIdentity] = {}
"""Those of functions that hold nothing which could change, by id."""


def function_identity(fn: Any) -> FunctionIdentity:
    """What a record keeps of the function that was given to `jax.jit`."""
    if type(fn) is not FunctionType or fn.__closure__ or fn.__defaults__ or fn.__kwdefaults__ or fn.__dict__:
        return _unwrapped(fn)
    known = _plain.get(id(fn))
    if known is None or known.ref is None or known.ref() is not fn or known.code is not fn.__code__:
        if len(_plain) >= _MOST_PLAIN:
            _plain.clear()
        known = _plain[id(fn)] = _unwrapped(fn)
    return known


def _unwrapped(fn: Any) -> FunctionIdentity:
    unwrapping = _Unwrapping()
    inner = unwrapping.innermost(fn)
    is_python = type(inner) is FunctionType
    module, qualname = _name(inner)
    return FunctionIdentity(
        module,
        qualname,
        inner.__code__ if is_python else None,
        _weak(fn),
        id(fn),
        tuple(unwrapping.layers),
        tuple(unwrapping.bound),
        (*_captured(inner), *unwrapping.captured)[:_MOST_VALUES] if is_python else (),
        tuple(_defaults(inner)) if is_python else (),
        _parameters(inner) if is_python else (),
        tuple(unwrapping.options),
    )


def _name(inner: Any) -> tuple[str, str]:
    if type(inner) is FunctionType:
        return plain_text(inner.__module__), plain_text(inner.__qualname__)
    module, _, name = type_path(type(inner)).rpartition(".")
    return module, name


def _weak(fn: Any) -> Any:
    try:
        return weakref.ref(fn)
    except TypeError:
        return None


def _captured(fn: FunctionType) -> tuple[KeptValue, ...]:
    return tuple(kept_value(name, value) for name, value in _cells(fn))


def _cells(fn: FunctionType) -> Iterator[tuple[str, Any]]:
    return islice(captured_variables(fn), _MOST_VALUES)


def _defaults(fn: FunctionType) -> Iterator[KeptValue]:
    names, values = fn.__code__.co_varnames[: fn.__code__.co_argcount], fn.__defaults__ or ()
    given = [*zip(names[len(names) - len(values) :], values, strict=False), *(fn.__kwdefaults__ or {}).items()]
    for name, value in given[:_MOST_VALUES]:
        yield kept_value(name, value)


def _parameters(fn: FunctionType) -> tuple[str, ...]:
    code = fn.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]


def forget() -> None:
    """Forget the identities that records share."""
    _plain.clear()
