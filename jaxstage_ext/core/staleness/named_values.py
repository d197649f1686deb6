"""The values that a function, and the functions that it calls, reach by name: globals, closures, attributes of self."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from jaxstage_ext.core.staleness.code_reads import Read, ReadStep, Scope, reads
from jaxstage_ext.core.staleness.fingerprints import is_jax_array
from jaxstage_ext.ir.sources.source import is_outside, is_user

_RULES, _WRAPPED = ("fwd", "bwd", "jvp"), ("fun", "_fun", "fn", "func")
"""Where JAX and libraries keep derivative rules, and the function that an object wraps."""
_MOST_FUNCTIONS, _MOST_VALUES, _MOST_HELD, _DEEPEST = 300, 2000, 200, 10
Bound = Mapping[str, tuple[str, Any]]
"""Parameters whose values are known before the call, such as `self`: what to call each, and its value."""


class NamedValues:
    """What is reached from one function.

    Attributes:
      values: "k", "cfg.sizes[0]", "self.scale" -> the value; a function of the user's stands for its code.
      functions: the user's functions that were gone through, and which of their parameters are known.
    """

    def __init__(self, fn: Any, bound: Bound | None = None) -> None:
        self.values: dict[str, Any] = {}
        self.functions: dict[FunctionType, Bound] = {}
        self._seen: set[Any] = set()
        self._kept: list[Any] = []
        self._todo: deque[tuple[Any, Bound]] = deque([(fn, bound or {})])
        while self._todo and len(self._seen) < _MOST_FUNCTIONS:
            self._visit(*self._todo.popleft())

    def _visit(self, fn: Any, bound: Bound) -> None:
        identity = (id(fn), tuple((name, id(value)) for name, (_, value) in bound.items()))
        if identity in self._seen:
            return
        self._seen.add(identity)
        self._kept.append(fn)  # so that no other object gets its id
        if isinstance(fn, functools.partial):
            self._visit_partial(fn, bound)
        elif isinstance(fn, MethodType):
            self._visit_method(fn.__func__, "self", fn.__self__)
        elif isinstance(fn, FunctionType):
            self._visit_function(fn, bound)
        else:
            self._visit_object(fn, bound)

    def _visit_partial(self, fn: functools.partial[Any], bound: Bound) -> None:
        inner = _innermost(fn.func)
        names = inner.__code__.co_varnames[: inner.__code__.co_argcount] if inner is not None else ()
        given = dict(zip(names, fn.args, strict=False)) | fn.keywords
        self._todo.append((fn.func, {**bound, **{name: (name, value) for name, value in given.items()}}))

    def _visit_method(self, function: Any, title: str, value: Any) -> None:
        inner = _innermost(function)
        if inner is not None and inner.__code__.co_argcount:
            self._todo.append((function, {inner.__code__.co_varnames[0]: (title, value)}))

    def _visit_object(self, fn: Any, bound: Bound) -> None:
        """A jitted function, a function with derivative rules, or an object that is called."""
        rules = [value for name, value in _attributes(fn).items() if name in (*_RULES, *_WRAPPED)]
        with contextlib.suppress(Exception):
            rules.append(fn.__wrapped__)
        self._todo.extend((rule, bound) for rule in rules if callable(rule))
        call = inspect.getattr_static(type(fn), "__call__", None)
        if not rules and _innermost(call) is not None:
            self._visit_method(call, "self", fn)

    def _visit_function(self, fn: FunctionType, bound: Bound) -> None:
        wrapped = fn.__dict__.get("__wrapped__")
        if callable(wrapped):
            self._todo.append((wrapped, bound))
        cells = dict(_cells(fn))
        if not is_user(fn.__code__.co_filename) or is_outside(fn.__code__.co_filename):
            self._todo.extend((value, {}) for value in cells.values() if _innermost(value) is not None)
            return
        self.functions.setdefault(fn, bound)
        for read in reads(fn.__code__):
            self._read(read, fn, cells, bound)
        for name, value in _defaults(fn):
            if name not in bound:
                self._reached(name, value)

    def _read(self, read: Read, fn: FunctionType, cells: Mapping[str, Any], bound: Bound) -> None:
        if read.scope is Scope.GLOBAL:
            if read.variable in fn.__globals__:
                self._follow(read.variable, fn.__globals__[read.variable], read.steps)
        elif read.scope is Scope.CLOSURE and read.variable in cells:
            self._follow(read.variable, cells[read.variable], read.steps)
        elif read.variable in bound:
            self._follow(*bound[read.variable], read.steps)

    def _follow(self, name: str, value: Any, steps: tuple[ReadStep, ...]) -> None:
        """Go the way to the part that is read, as far as that runs no code of the user's."""
        for step in steps:
            part = _part(value, step)
            if isinstance(part, property) and part.fget is not None:
                self._visit_method(part.fget, name, value)
                return
            if part is _UNKNOWN:
                break
            if not isinstance(value, ModuleType | type) and _is_method(value, step, part):
                self._visit_method(part, name, value)
                if not is_user(_file(part)):
                    self._reached(name, value)
                return
            name, value = f"{name}{step}", part
        self._reached(name, value)

    def _reached(self, name: str, value: Any, depth: int = 0) -> None:
        if name in self.values or len(self.values) >= _MOST_VALUES or isinstance(value, ModuleType | type):
            return
        if _is_callable(value):
            self._reached_function(name, value, depth)
            return
        for method in (inspect.getattr_static(type(value), called, None) for called in ("__call__", "setup")):
            if _innermost(method) is not None and is_user(_file(method)):
                self._visit_method(method, name, value)
        if depth < _DEEPEST and (held := _held(value)) is not None:
            for step, part in held:
                self._reached(f"{name}{step}", part, depth + 1)
        else:
            self.values[name] = value

    def _reached_function(self, name: str, fn: Any, depth: int) -> None:
        """A function stands for its code; one of a library, which is not gone through, for what it closes over too."""
        self._todo.append((fn, {}))
        if isinstance(fn, functools.partial):
            held = [*((ReadStep(i, False), part) for i, part in enumerate(fn.args)), *_as_attributes(fn.keywords)]
        elif (inner := _innermost(fn)) is not None:
            self.values[name] = inner
            held = [] if is_user(inner.__code__.co_filename) else _as_attributes(dict(_cells(inner)))
            held += [(ReadStep(rule, True), value) for rule, value in _attributes(fn).items() if rule in _RULES]
        else:
            return
        for step, part in held if depth < _DEEPEST else ():
            self._reached(f"{name}{step}", part, depth + 1)


class _Unknown:
    pass


_UNKNOWN = _Unknown()


def _is_callable(value: Any) -> bool:
    kinds = (FunctionType, MethodType, functools.partial, BuiltinFunctionType)
    return isinstance(value, kinds) or (callable(value) and "__wrapped__" in _attributes(value))


def _innermost(fn: Any) -> FunctionType | None:
    """The function inside wrappers that tell of it; None where there is none."""
    with contextlib.suppress(Exception):
        fn = inspect.unwrap(fn)
    fn = getattr(fn, "__func__", fn) if isinstance(fn, MethodType | staticmethod | classmethod) else fn
    return fn if isinstance(fn, FunctionType) else None


def _file(fn: Any) -> str:
    inner = _innermost(fn)
    return "<frozen>" if inner is None else inner.__code__.co_filename


def _part(value: Any, step: ReadStep) -> Any:
    if step.is_attribute:
        part = _UNKNOWN if is_jax_array(value) else inspect.getattr_static(value, step.key, _UNKNOWN)
        part = part.__func__ if isinstance(part, staticmethod | classmethod) else part
        if _is_field(value, step.key):
            return tuple.__getitem__(value, type(value)._fields.index(step.key))
        if isinstance(part, MemberDescriptorType) and not isinstance(value, type):
            part = getattr(value, step.key, _UNKNOWN)
        return part
    if type(value) in (dict, list, tuple):
        with contextlib.suppress(Exception):
            return value[step.key]
    return _UNKNOWN


def _is_method(value: Any, step: ReadStep, part: Any) -> bool:
    if step.key in _attributes(value) or _is_field(value, step.key) or isinstance(part, MemberDescriptorType):
        return False
    return _innermost(part) is not None or hasattr(type(part), "__get__")


def _is_field(value: Any, name: str) -> bool:
    """Whether it is a field of a named tuple."""
    return isinstance(value, tuple) and name in getattr(type(value), "_fields", ())


def _attributes(value: Any) -> dict[str, Any]:
    try:
        return dict(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError, ValueError):
        return {}


def _held(value: Any) -> Iterator[tuple[ReadStep, Any]] | None:
    """What a container or a plain object holds; None of other values."""
    if type(value) is dict:
        keys = [key for key in list(value)[:_MOST_HELD] if type(key) in (str, int)]
        return ((ReadStep(key, False), value[key]) for key in keys)
    if type(value) in (list, tuple):
        return ((ReadStep(i, False), part) for i, part in enumerate(list(value[:_MOST_HELD])))
    if isinstance(value, tuple) and (names := getattr(type(value), "_fields", ())):
        return iter([(ReadStep(name, True), part) for name, part in zip(names, value, strict=False)])
    held = _attributes(value)
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return ((ReadStep(name, True), held[name]) for name in names if name in held)
    if held and is_user(_class_file(type(value))):
        return iter(_as_attributes(held))
    return None


def _as_attributes(held: Mapping[str, Any]) -> list[tuple[ReadStep, Any]]:
    return [(ReadStep(name, True), part) for name, part in list(held.items())[:_MOST_HELD]]


def _class_file(kind: type) -> str:
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None) or ("" if kind.__module__ in ("__main__", "types") else "<frozen>")


def _cells(fn: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents


def _defaults(fn: FunctionType) -> Iterator[tuple[str, Any]]:
    arguments, defaults = fn.__code__.co_varnames[: fn.__code__.co_argcount], fn.__defaults__ or ()
    yield from zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True)
    yield from (fn.__kwdefaults__ or {}).items()
