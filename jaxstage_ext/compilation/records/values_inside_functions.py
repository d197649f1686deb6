"""The numbers, texts and types of arrays that a function captures, itself or through functions that it captures."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FunctionType
from typing import Any, Final

import jax
import numpy as np

from jaxstage_ext.core.jax_private.compile_frames import is_array
from jaxstage_ext.core.jax_private.transformations import captured_variables

_MOST_VISITED: Final = 64
_SIMPLE: Final = frozenset(map(id, (int, float, complex, bool, str)))
"""Types by identity: that of a value may have a metaclass of the user's."""
_LONGEST: Final = 80
_WIDEST: Final = 256


def values_inside(function: Any) -> tuple[tuple[str, Any], ...]:
    """Names and values in a fixed order, those of the first objects reached; none of the user's code runs."""
    waiting, seen, values = [("", function)], set[int](), list[tuple[str, Any]]()
    for _ in range(_MOST_VISITED):
        if not waiting:
            break
        name, value = waiting.pop()
        if _is_simple(value):
            values.append((name, value))
        elif (array := _array_type(value)) is not None:
            values.append((name, array))
        elif id(value) not in seen:
            seen.add(id(value))
            waiting += _held(name, value)
    return tuple(values)


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of an array, which is not kept itself; it is written when somebody looks."""

    dtype: Any
    shape: tuple[int, ...]

    def __str__(self) -> str:
        aval: Any = jax.core.ShapedArray(self.shape, self.dtype)
        return str(aval.str_short(short_dtypes=True))


def _array_type(value: Any) -> ArrayType | None:
    kind = type(value)
    if kind is np.ndarray or is_array(kind):
        return ArrayType(value.dtype, value.shape)
    return None


def _is_simple(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(value.bit_length() <= _WIDEST)
    return id(kind) in _SIMPLE and (kind is not str or len(value) <= _LONGEST)


def _held(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    if kind is FunctionType:
        yield from captured_variables(value)
    elif kind is functools.partial:
        yield name, value.func
        yield from ((name, argument) for argument in value.args)
        yield from value.keywords.items()
    elif kind is list:
        yield from ((name, item) for item in value[:_MOST_VISITED])
    elif issubclass(kind, tuple):
        yield from ((name, item) for item in islice(tuple.__iter__(value), _MOST_VISITED))
