"""Products with the inverse of a matrix, which solving the system gives without the inverse."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.rewrites.replacements import Form, Replacement, uses

_MOST_USES = 2
"""Products of one inverse; each becomes a solution of its own, of which XLA computes the factorisation once."""


def _find(jaxpr: Any) -> list[Replacement]:
    """The products of an inverse that is read by products alone."""
    inverses = [eqn for eqn in jaxpr.eqns if _is_inverse(eqn)]
    read = uses(jaxpr) if inverses else {}
    found: list[Replacement] = []
    for eqn in inverses:
        users = read.get(eqn.outvars[0], [])
        if 0 < len(users) <= _MOST_USES and all(
            user is not None and _is_product(user, eqn.outvars[0]) for user in users
        ):
            found += [_replacement(eqn, user) for user in users]
    return found


def flops_saved(one: Replacement) -> float:
    """Two triangular solutions for n columns; those for the columns of a product take what it takes."""
    size = float(one.source.invars[0].aval.shape[0])
    return 2 * size**3 + 4 * size**2


def _is_inverse(eqn: Any) -> bool:
    return (
        eqn.primitive.name in ("jit", "pjit")
        and jaxprs.called(eqn) == "inv"
        and len(eqn.invars) == len(eqn.outvars) == 1
        and not jaxprs.is_literal(eqn.invars[0])
        and eqn.outvars[0].aval.ndim == 2
    )


def _is_product(eqn: Any, inverse: Any) -> bool:
    if eqn.primitive.name != "dot_general" or sum(atom is inverse for atom in eqn.invars) != 1:
        return False
    (left, right), (batch, _) = eqn.params["dimension_numbers"]
    other = eqn.invars[1 if eqn.invars[0] is inverse else 0]
    return not batch and len(left) == len(right) == 1 and bool(other.aval.dtype == inverse.aval.dtype)


def _replacement(inverse: Any, product: Any) -> Replacement:
    is_left = product.invars[0] is inverse.outvars[0]
    (left, right), _ = product.params["dimension_numbers"]
    [of_inverse], [of_other] = (left, right) if is_left else (right, left)
    other = product.invars[1 if is_left else 0]
    compute = functools.partial(_solved, is_left=is_left, transposed=of_inverse == 0, axis=of_other)
    return Replacement(product, inverse, (inverse.invars[0], other), compute)


def _solved(matrix: Any, other: Any, *, is_left: bool, transposed: bool, axis: int) -> Any:
    moved = jnp.moveaxis(other, axis, 0)
    made = jnp.linalg.solve(matrix.T if transposed else matrix, moved.reshape(moved.shape[0], -1))
    made = made.reshape(moved.shape)
    return made if is_left else jnp.moveaxis(made, 0, -1)


FORM = Form(_find, inlines=False)
