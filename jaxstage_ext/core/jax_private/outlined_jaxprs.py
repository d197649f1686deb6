"""A jaxpr without what it captures: its equations and types, with stand-ins for arrays and for Python functions."""

from __future__ import annotations

import enum
import functools
import operator
import os
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import jax
import numpy as np
from jax._src import callback as _callback
from jax._src import core as _core
from jax._src import layout as _layout
from jax._src import mesh as _mesh

from jaxstage_ext.core.jax_private.compile_frames import is_array
from jaxstage_ext.core.jax_private.effect_rules import closed_over_callback
from jaxstage_ext.core.jax_private.jaxprs import ClosedJaxpr

_core_any: Any = _core  # untyped
_PLAIN = frozenset(map(id, (type(None), bool, int, float, complex, str, bytes, type(...))))
"""By identity: a class of the user's may have a metaclass with an `__eq__` or `__hash__`."""
_CONTAINERS = frozenset(map(id, (tuple, list, set, frozenset)))
_JAXPRS = (_core.Jaxpr, ClosedJaxpr)
_KEPT = (
    np.generic,
    np.dtype,
    jax.sharding.Sharding,
    jax.sharding.PartitionSpec,
    jax.sharding.Mesh,
    jax.sharding.AbstractMesh,
    jax.Device,
    _mesh.AxisType,
    _layout.Layout,
    _core.AbstractValue,
    _core.Primitive,
    _core.Var,
)
"""What holds nothing of the user's."""
_FlatCallback: Any = getattr(_callback, "_FlatCallback", None)
_LIBRARY = os.path.dirname(jax.__file__) + os.sep
_DEEPEST = 6
_module_of, _name_of = type.__dict__["__module__"].__get__, type.__dict__["__qualname__"].__get__


class GoneConstant:
    """An array that a jaxpr captured: its type and size."""

    def __init__(self, value: Any) -> None:
        self.shape, self.dtype = tuple(value.shape), value.dtype
        self.size, self.ndim = int(value.size), len(self.shape)
        self.nbytes = self.size * int(getattr(self.dtype, "itemsize", 0))
        self.weak_type = bool(getattr(value, "weak_type", False))

    def __repr__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


class GoneFunction:
    """A Python function, or another object, that a jaxpr captured: its name."""

    def __init__(self, value: Any) -> None:
        kind = type(value)
        self.__qualname__ = function_name(value)
        self.__name__ = self.__qualname__.rpartition(".")[2]
        self._text = FunctionType.__repr__(value) if kind is FunctionType else f"<{_name_of(kind)}>"
        if is_of_jax(kind):
            self.debug_info = _debug_info(value)

    def __repr__(self) -> str:
        return self._text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(f"{self.__qualname__ or self._text} was not kept with the compile log's jaxpr")


def outlined(jaxpr: Any) -> Any:
    """The jaxpr, or one like it that keeps none of the user's functions and arrays alive. None of the user's code runs.

    It prints as before and has the same equations, types and inner jaxprs; it cannot be run.
    """
    return _Outliner().of_jaxpr(jaxpr)


def is_plain_tree(tree: Any) -> bool:
    """Whether a PyTreeDef keeps nothing of the user's alive in the data of its nodes but their classes."""
    return _Outliner().is_plain_tree(tree, 0)


def is_of_jax(kind: type) -> bool:
    """Whether a type is JAX's own, whatever its metaclass says."""
    module = _module_of(kind)
    return type(module) is str and module.partition(".")[0] in ("jax", "jaxlib")


def function_name(value: Any) -> str:
    """The qualified name of a function, of a method's and of a partial's; "" of another object, whose code may run."""
    if type(value) is MethodType:
        return function_name(value.__func__)
    if type(value) is functools.partial:
        return function_name(value.func)
    if type(value) is _FlatCallback:
        return function_name(value.callback_func)
    if type(value) is FunctionType and (inner := closed_over_callback(value)) is not None:
        return function_name(inner)
    is_function = type(value) is FunctionType or type(value) is BuiltinFunctionType
    return value.__qualname__ if is_function else ""


def _debug_info(value: Any) -> Any:
    """JAX's description of a function by names alone."""
    info: Any = getattr(value, "debug_info", None)
    return info._replace(result_paths=None) if hasattr(info, "_replace") else info


class _Outliner:
    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}
        self._kinds: dict[int, tuple[type, bool]] = {}

    def of_jaxpr(self, jaxpr: Any) -> Any:
        known = self._made.get(id(jaxpr))
        if known is None:
            known = self._made[id(jaxpr)] = jaxpr, self._copied(jaxpr)
        return known[1]

    def _copied(self, jaxpr: Any) -> Any:
        if type(jaxpr) is not _core_any.Jaxpr:  # a ClosedJaxpr, before jax 0.12
            inner, consts = self.of_jaxpr(jaxpr.jaxpr), self._all(jaxpr.consts)
            is_same = inner is jaxpr.jaxpr and _are(consts, jaxpr.consts)
            return jaxpr if is_same else type(jaxpr)(inner, consts)
        eqns = [self._equation(eqn) for eqn in jaxpr.eqns]
        consts = self._all(getattr(jaxpr, "consts", ()))
        made = jaxpr if _are(eqns, jaxpr.eqns) else jaxpr.replace(eqns=eqns)
        return made if _are(consts, getattr(jaxpr, "consts", ())) else made.with_consts(consts)

    def _equation(self, eqn: Any) -> Any:
        held, inputs = eqn.params, eqn.invars
        if not all(id(type(value)) in _PLAIN for value in held.values()):
            held = {name: self.of(value) for name, value in held.items()}
        if any(type(atom) is _core.Literal and np.ndim(atom.val) for atom in inputs):
            inputs = [self._atom(atom) for atom in inputs]
        if inputs is eqn.invars and (held is eqn.params or _are(held.values(), eqn.params.values())):
            return eqn
        return eqn.replace(params=held, invars=inputs)

    def _atom(self, atom: Any) -> Any:
        if type(atom) is not _core.Literal or np.ndim(atom.val) == 0:
            return atom
        return _core_any.Literal(self.of(atom.val), atom.aval)

    def _all(self, values: Iterable[Any], depth: int = 0) -> list[Any]:
        return [self.of(value, depth) for value in values]

    def of(self, value: Any, depth: int = 0) -> Any:
        """The value itself where it holds nothing of the user's, else one like it or a stand-in."""
        kind = type(value)
        if id(kind) in _PLAIN or self._is_kept(kind):
            return value
        if issubclass(kind, _JAXPRS):
            return self.of_jaxpr(value)
        if issubclass(kind, np.ndarray) or is_array(kind):
            return GoneConstant(value)
        if depth < _DEEPEST and (held := self._rebuilt(value, kind, depth + 1)) is not None:
            return held
        return GoneFunction(value)

    def _is_kept(self, kind: type) -> bool:
        known = self._kinds.get(id(kind))
        if known is None:
            is_kept = issubclass(kind, _KEPT) or (issubclass(kind, enum.Enum) and is_of_jax(kind))
            known = self._kinds[id(kind)] = kind, is_kept
        return known[1]

    def _rebuilt(self, value: Any, kind: type, depth: int) -> Any:
        """A container of what may be kept; an object of JAX's as it is, where it may be kept whole; else None."""
        if id(kind) in _CONTAINERS:
            parts = self._all(value, depth)
            return value if _are(parts, value) else kind(parts)
        if kind is dict:
            pairs = {key: self.of(held, depth) for key, held in value.items()}
            return value if _are(pairs.values(), value.values()) else pairs
        if kind is FunctionType:
            return value if self._is_of_library(value, depth) else None
        if kind is BuiltinFunctionType:
            return value if value.__self__ is None or type(value.__self__) is type(os) else None
        if issubclass(kind, type):
            module = _module_of(value)
            return value if is_of_jax(value) or (type(module) is str and module in ("builtins", "numpy")) else None
        if kind is jax.tree_util.PyTreeDef:
            return value if self.is_plain_tree(value, depth) else None
        if issubclass(kind, tuple) and is_of_jax(kind):
            parts = self._all(tuple.__iter__(value), depth)
            return value if _are(parts, tuple.__iter__(value)) else tuple.__new__(kind, parts)
        if is_of_jax(kind) and not hasattr(kind, "call_wrapped"):  # what holds a function of the user's to be run
            held = _attributes(value, kind)
            return value if (held or not callable(value)) and self._keeps_all(held, depth) else None
        return None

    def _keeps_all(self, values: Iterable[Any], depth: int) -> bool:
        values = list(values)
        return depth < _DEEPEST and _are(self._all(values, depth), values)

    def _is_of_library(self, function: FunctionType, depth: int) -> bool:
        """Whether it is a function of JAX's that captured nothing of the user's."""
        if not function.__code__.co_filename.startswith(_LIBRARY):
            return False
        try:
            cells = [cell.cell_contents for cell in function.__closure__ or ()]
        except ValueError:  # a variable that has no value yet
            return False
        return self._keeps_all([*cells, *(function.__defaults__ or ()), *vars(function).values()], depth)

    def is_plain_tree(self, tree: Any, depth: int) -> bool:
        """As the function."""
        node = tree.node_data()
        if node is not None and not issubclass(type(node[1]), type) and not self._keeps_all((node[1],), depth):
            return False
        return all(self.is_plain_tree(child, depth) for child in tree.children())


def _attributes(value: Any, kind: type) -> list[Any]:
    """What an object of a class of JAX's holds; nothing of one that is not written in Python."""
    slots = [name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ()) if not name.startswith("__")]
    return [getattr(value, name, None) for name in slots] + [*getattr(value, "__dict__", {}).values()]


def _are(values: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(map(operator.is_, values, others))
