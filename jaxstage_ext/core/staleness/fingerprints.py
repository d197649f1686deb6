"""What a value was at one moment, in a few bytes: whether it has changed since, and how to write what it was."""

from __future__ import annotations

import enum
import sys
import weakref
import zlib
from collections.abc import Hashable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxstage_ext.report.text.bounded_repr import plain_repr, type_name

_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_COMPARED = (np.dtype, jax.sharding.Mesh, jax.sharding.AbstractMesh)
_LARGEST = 1 << 18
"""Bytes of an array that are read whole; of a larger one, that many are sampled."""
_LONGEST_TEXT, _SMALL_ARRAY = 60, 8


class Fingerprint(NamedTuple):
    """A value at one moment."""

    key: Hashable
    """What equal values have in common."""
    identity: weakref.ref[Any] | None = None
    """The value itself, where only that tells it from another."""
    text: str = ""
    """How Python writes it; empty where it is too large or not known, and of text, which may be a secret."""
    holder: weakref.ref[Any] | None = None
    """The array of NumPy whose contents the key is of."""

    def equals(self, other: Fingerprint) -> bool:
        """Whether both are of the same value, as far as they show."""
        if self.key != other.key or (self.identity is None) != (other.identity is None):
            return False
        if self.identity is None or other.identity is None:
            return True
        return _is_same(self.identity, other.identity)

    def is_in_place(self, other: Fingerprint) -> bool:
        """Whether both are of one array, whatever it held."""
        return self.holder is not None and other.holder is not None and _is_same(self.holder, other.holder)


def _is_same(one: weakref.ref[Any], other: weakref.ref[Any]) -> bool:
    value = one()
    return value is not None and value is other()


def fingerprint(value: Any) -> Fingerprint | None:
    """The fingerprint of a value; None where nothing about it can be kept. Runs no code of the user's.

    A function is known by its code; an array of JAX, and any other object, by its identity: no device is asked.
    """
    if type(value) in _SCALARS or isinstance(value, np.generic):
        return _of_scalar(value)
    if isinstance(value, enum.Enum):
        return Fingerprint((type_name(value), value._name_), text=f"{type_name(value)}.{value._name_}")
    if type(value) is np.ndarray and not value.dtype.hasobject and not isinstance(value.base, np.memmap):
        return _of_array(value)
    if isinstance(value, FunctionType):
        return Fingerprint(("code", code_key(value.__code__)))
    if isinstance(value, _COMPARED):
        return Fingerprint((type_name(value), hash(value)), text=plain_repr(value, _LONGEST_TEXT))
    try:
        return Fingerprint(type_name(value), weakref.ref(value))
    except TypeError:
        return None


def _of_scalar(value: Any) -> Fingerprint:
    text = "" if isinstance(value, str | bytes) else plain_repr(value, _LONGEST_TEXT)
    return Fingerprint((type_name(value), _exact(value) if isinstance(value, int | str | bytes) else text), text=text)


def _exact(value: int | str | bytes) -> int:
    """A hash of a value; Python's own of an integer is the same for -1 and -2, and for 0 and 2**61 - 1."""
    return hash(hex(value) if isinstance(value, int) else value)


def _of_array(value: np.ndarray[Any, Any]) -> Fingerprint:
    plain = np.asarray(value).view(np.ndarray)
    text = plain_repr(plain, _LONGEST_TEXT) if plain.size <= _SMALL_ARRAY else ""
    if plain.nbytes > _LARGEST:
        plain = plain.reshape(-1)[:: -(-plain.nbytes // _LARGEST)] if plain.flags.c_contiguous else plain[:1]
    contents = zlib.crc32(np.ascontiguousarray(plain).tobytes())
    return Fingerprint((value.dtype.str, value.shape, contents), text=text, holder=weakref.ref(value))


def code_key(code: CodeType) -> int:
    """A key that code has in common with code of the same text, wherever in a file that is."""
    inner = tuple(code_key(const) if isinstance(const, CodeType) else _constant(const) for const in code.co_consts)
    return hash((code.co_code, code.co_names, code.co_varnames, code.co_freevars, inner))


def _constant(value: Any) -> Hashable:
    if isinstance(value, tuple | frozenset):
        return type(value)(map(_constant, value))
    if isinstance(value, int):
        return type(value), hex(value)
    return type(value), value if not isinstance(value, float | complex) else repr(value)


def is_jax_array(value: Any) -> bool:
    """Whether it is an array of JAX, without importing JAX."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)
