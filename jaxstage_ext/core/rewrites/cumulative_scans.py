"""Cumulative sums over an axis, which a scan over that axis computes in one pass over the rest."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from jaxstage_ext.core.rewrites.replacements import Form, Replacement

_OPERATIONS = {"cumsum": jnp.add, "cumprod": jnp.multiply, "cummax": jnp.maximum, "cummin": jnp.minimum}
_LEAST_LENGTH, _LEAST_BESIDE, LEAST_SIZE = 32, 64, 200_000
"""Elements of the axis, beside it, and in all: measured on a CPU with x[360, 19200], x[2000, 2000] and x[4000000]."""


def _find(jaxpr: Any) -> list[Replacement]:
    """Those of arrays that have enough beside the axis to fill vectors."""
    return [
        Replacement(eqn, eqn, (eqn.invars[0],), functools.partial(_scanned, eqn=eqn))
        for eqn in jaxpr.eqns
        if eqn.primitive.name in _OPERATIONS and _is_wide(eqn)
    ]


def _is_wide(eqn: Any) -> bool:
    shape = eqn.invars[0].aval.shape
    length, size = shape[eqn.params["axis"]], math.prod(shape)
    return bool(length >= _LEAST_LENGTH and size >= LEAST_SIZE and size // length >= _LEAST_BESIDE)


def _scanned(values: Any, *, eqn: Any) -> Any:
    axis, operation = eqn.params["axis"], _OPERATIONS[eqn.primitive.name]
    moved = jnp.moveaxis(values, axis, 0)
    first = moved[-1 if eqn.params["reverse"] else 0]
    start = jnp.zeros_like(first) if operation is jnp.add else jnp.ones_like(first)
    start = first if operation in (jnp.maximum, jnp.minimum) else start

    def step(so_far: Any, row: Any) -> tuple[Any, Any]:
        made = operation(so_far, row)
        return made, made

    return jnp.moveaxis(jax.lax.scan(step, start, moved, reverse=eqn.params["reverse"])[1], 0, axis)


FORM = Form(_find)
