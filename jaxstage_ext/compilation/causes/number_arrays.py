"""Code that makes one type of array of an argument that was a number in some calls, or a number of another type.

`jnp.asarray` of a Python number is weakly typed, and of an int it is an integer: either is a program of its own beside
that of a strongly typed float.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxstage_ext.compilation.causes.cause import Difference

_ARRAY = re.compile(r"(?:weak )?(bf|[fiuc])(\d+)\[")
_NAMES = {"bf": "bfloat", "f": "float", "i": "int", "u": "uint", "c": "complex"}
_DEFAULT = "float"
"""JAX's default: float32, or float64 where jax_enable_x64 is on."""
_INTEGER = re.compile(r"[-+]?\d+")


def as_one_array(difference: Difference) -> str:
    """`jnp.asarray` of the argument, with a dtype where the two calls would make different arrays without one."""
    dtype = _dtype((difference.before, difference.now))
    return f"jnp.asarray({difference.what}{f', {dtype}' if dtype else ''})"


def _dtype(values: Sequence[str]) -> str:
    arrays = [match for value in values if (match := _ARRAY.match(value))]
    integers = [_INTEGER.fullmatch(value) is not None for value in values if not _ARRAY.match(value)]
    if not arrays:
        return "" if len(set(integers)) == 1 else _DEFAULT
    kind, bits = arrays[0].groups()
    return _DEFAULT if kind in "iu" and not all(integers) else f"jnp.{_NAMES[kind]}{bits}"
