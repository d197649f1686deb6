"""Python values as a record keeps them. None of the user's code runs, such as `__eq__` or a property."""

from __future__ import annotations

import enum
import weakref
from collections.abc import Iterator, Mapping
from itertools import islice
from types import FunctionType, GetSetDescriptorType
from typing import Any

import numpy as np

from jaxstage_ext.compilation.records.compile_record import KeptValue
from jaxstage_ext.compilation.records.values_inside_functions import values_inside
from jaxstage_ext.core.jax_private.compile_frames import is_array

_PLAIN = frozenset(map(id, (int, float, complex, bool, type(None), type(...))))
_TEXT = frozenset(map(id, (str, bytes, np.str_, np.bytes_)))
"""Types by identity: the class of a value may have a metaclass of the user's, with an `__eq__` and a `__hash__`."""
_LONGEST, _WIDEST = 200, 256
"""Characters of a text, and bits of an integer, that are kept."""
_MOST_PARTS, _DEEPEST = 8, 2
_JITTED = "jaxlib._jax.PjitFunction"
_NUMERIC_PACKAGES = ("numpy", "jax", "jaxlib", "ml_dtypes")
_type_module, _type_qualname = type.__dict__["__module__"].__get__, type.__dict__["__qualname__"].__get__


def kept_value(name: str, value: Any, depth: int = 0) -> KeptValue:
    """What a record keeps of a value: itself where it is plain, else a weak reference and what it holds."""
    kind = type(value)
    if _is_plain(value, kind):
        return KeptValue(name, type_path(kind), value, is_kept=True)
    parts = () if depth >= _DEEPEST else tuple(kept_value(part, held, depth + 1) for part, held in _held(value, kind))
    if kind is tuple and len(parts) == len(value) and all(part.is_kept for part in parts):
        return KeptValue(name, type_path(kind), value, is_kept=True, parts=parts)
    return KeptValue(
        name,
        type_path(kind),
        hash_is_identity=_of_class(kind, "__eq__") is object.__eq__,
        ref=_weak(value),
        identity=id(value),
        shape=_shape(value, kind),
        code=value.__code__ if kind is FunctionType else None,
        parts=parts,
        inside=_inside(value, kind),
        kind=weakref.ref(kind),
    )


def _inside(value: Any, kind: type) -> tuple[tuple[str, Any], ...]:
    """What a Python function captures, also one that is jitted."""
    if kind is not FunctionType:
        value = getattr(value, "__wrapped__", None) if type_path(kind) == _JITTED else None
    return values_inside(value) if type(value) is FunctionType and value.__closure__ else ()


def type_path(kind: type) -> str:
    """The qualified name of a type, whatever its metaclass says."""
    module, name = _type_module(kind), plain_text(_type_qualname(kind))
    return f"{module}.{name}" if type(module) is str and module != "builtins" else name


def plain_text(text: Any) -> str:
    """A text without what a subclass of `str` makes of it; "" of anything else."""
    return str.__str__(text) if issubclass(type(text), str) else ""


def _is_plain(value: Any, kind: type) -> bool:
    if id(kind) in _PLAIN:
        return kind is not int or value.bit_length() <= _WIDEST
    if id(kind) in _TEXT:
        return len(value) <= _LONGEST
    if issubclass(kind, enum.Enum):
        inner = object.__getattribute__(value, "__dict__").get("_value_") if has_plain_dict(kind) else value
        return inner is not value and _is_plain(inner, type(inner))
    if issubclass(kind, np.dtype) or (issubclass(kind, np.generic) and not issubclass(kind, np.flexible | np.object_)):
        return True
    if issubclass(kind, type):
        return _is_numeric(value)
    return False


def _is_numeric(kind: type) -> bool:
    """Whether a type is JAX's or NumPy's."""
    module = _type_module(kind)
    return type(module) is str and module.partition(".")[0] in _NUMERIC_PACKAGES


def _weak(value: Any) -> Any:
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def _shape(value: Any, kind: type) -> str:
    if is_array(kind):
        return str(value.aval.str_short(short_dtypes=True))
    if kind is np.ndarray:
        return f"{value.dtype.name}[{','.join(map(str, value.shape))}]"
    return ""


def _held(value: Any, kind: type) -> Iterator[tuple[str, Any]]:
    """The first values that a container or a plain object holds."""
    if kind is tuple or kind is list:
        yield from ((str(i), part) for i, part in enumerate(value[:_MOST_PARTS]))
    elif kind is dict:
        yield from _named(value)
    elif issubclass(kind, tuple):
        fields = _of_class(kind, "_fields")
        if type(fields) is tuple and all(type(field) is str for field in fields):
            yield from islice(zip(fields, tuple.__iter__(value), strict=False), _MOST_PARTS)
    elif has_plain_dict(kind) and not _is_numeric(kind):
        yield from _named(object.__getattribute__(value, "__dict__"), _compared(kind))


def _compared(kind: type) -> frozenset[str] | None:
    """The fields that the `__eq__` of a dataclass compares; None of other classes."""
    own = own_names(kind)
    fields, made = own.get("__dataclass_fields__"), own.get("__dataclass_params__")
    if type(fields) is not dict or not getattr(made, "eq", False):
        return None
    return frozenset(name for name, field in fields.items() if field.compare)


def _named(values: dict[Any, Any], among: frozenset[str] | None = None) -> list[tuple[str, Any]]:
    """The first values of a dictionary that have a short name, or a number for one; with `among` those alone."""
    plain = ((name, value) for name, value in dict.items(values) if type(name) is str or type(name) is int)
    first = islice((pair for pair in plain if among is None or pair[0] in among), _MOST_PARTS)
    return [(str(name), value) for name, value in first if _is_plain(name, type(name))]


def _of_class(kind: type, name: str) -> Any:
    """What a class defines or inherits under a name, itself; None where there is nothing."""
    return next((own_names(base)[name] for base in bases(kind) if name in own_names(base)), None)


def bases(kind: type) -> tuple[type, ...]:
    """A type and those that it inherits from, whatever its metaclass says."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


def own_names(kind: type) -> Mapping[str, Any]:
    """What a class itself defines, whatever its metaclass says."""
    names: Mapping[str, Any] = type.__dict__["__dict__"].__get__(kind)
    return names


def has_plain_dict(kind: type) -> bool:
    """Whether instances have a `__dict__` that is Python's own, not a property of the user's."""
    if issubclass(kind, type | FunctionType):
        return False
    for base in bases(kind):
        own = own_names(base).get("__dict__")
        if own is not None:
            return type(own) is GetSetDescriptorType
    return False
