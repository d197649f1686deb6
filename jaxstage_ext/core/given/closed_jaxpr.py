"""A ClosedJaxpr, as it is given: what JAX traces of it, which is that jaxpr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax

from jaxstage_ext.core.given import symbolic
from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.jax_private.given_objects import call_info
from jaxstage_ext.core.jax_private.jaxprs import ClosedJaxpr, jaxpr_as_fun
from jaxstage_ext.core.stage.staged import TRACE


def given(value: Any, args: tuple[Any, ...], sizes: Mapping[str, int]) -> GivenObject | None:
    """A ClosedJaxpr, with the types of its inputs or these arguments; None for another value.

    Raises SymbolicAxis where a type has a symbolic axis of no known size.
    """
    if not isinstance(value, ClosedJaxpr):
        return None
    inputs = args or tuple(symbolic.sized(aval, sizes) for aval in value.in_avals)
    traced = jax.jit(jaxpr_as_fun(value))
    return GivenObject(
        "ClosedJaxpr", TRACE, value, lambda target: traced.trace(*inputs), tuple(inputs), {}, call_info(value), True
    )


def is_one(value: Any) -> bool:
    """Whether a value is a ClosedJaxpr."""
    return isinstance(value, ClosedJaxpr)
