"""Typed random keys in a jaxpr, and which generators read the first of a batch alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax.dtypes
from jax._src import dtypes as _dtypes

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.jax_private.jaxpr_edits import CALLS

_FIRST_ALONE = ("rbg", "unsafe_rbg")
"""They draw all rows of a batch from its first key, as `jax.random` documents."""


def drawn_from_first(jaxpr: Any, values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """(value, equation) of those of some values that are batches of such keys, which an equation draws from at once."""
    batches = {var for var in jaxprs.variables(values) if _is_batch(var)}
    for eqn in jaxpr.eqns if batches else ():
        read = [(at, var) for at, var in enumerate(eqn.invars) if jaxprs.variables([var]) and var in batches]
        if eqn.primitive.name == "random_bits":
            yield from ((var, eqn) for _, var in read)
        elif read and eqn.primitive.name in CALLS:
            [inner] = jaxprs.inner_jaxprs(eqn)
            outer = {inner.invars[at]: var for at, var in read}
            yield from ((outer[own], deep) for own, deep in drawn_from_first(inner, list(outer)))


def generator(var: Any) -> str:
    """The name of the generator of a key; "" of any other value."""
    dtype = getattr(var.aval, "dtype", None)
    if dtype is None or not _dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return ""
    return str(getattr(getattr(dtype, "_impl", None), "name", ""))


def _is_batch(var: Any) -> bool:
    return generator(var) in _FIRST_ALONE and math.prod(var.aval.shape) > 1
