"""Results of `jnp.einsum` that it transposes to the order of dimensions that was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxstage_ext.core.jax_private import jaxprs, rematerialized, tracebacks

_EINSUM = frozenset({"einsum", "_einsum"})


class TransposedResult(NamedTuple):
    """A result of the program that einsum computes and then transposes."""

    equation: Any
    """The transpose."""
    number: int
    """Of the program's result."""
    permutation: tuple[int, ...]
    """As `transpose` has it: the dimension that was computed at each place of the result."""


def transposed(jaxpr: Any) -> Iterator[TransposedResult]:
    """Those of a jaxpr that nothing else reads."""
    read = {id(var) for eqn in jaxpr.eqns for var in jaxprs.variables(eqn.invars)}
    numbers = {id(var): number for number, var in enumerate(jaxpr.outvars)}
    for eqn in jaxpr.eqns:
        out = eqn.outvars[0] if eqn.primitive.name == "transpose" else None
        if out is None or id(out) not in numbers or id(out) in read:
            continue
        if not _EINSUM.isdisjoint(tracebacks.own_frames(eqn)):
            yield TransposedResult(eqn, numbers[id(out)], tuple(eqn.params["permutation"]))


def as_computed(jaxpr: Any, target: Any) -> Any:
    """The jaxpr that returns a result of einsum as it is computed."""
    eqns = [eqn for eqn in jaxpr.eqns if eqn is not target]
    return rematerialized.with_equations(jaxpr, eqns, {target.outvars[0]: target.invars[0]})
