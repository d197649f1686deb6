"""Traces with other shardings: of an argument, of a result, and of values within the jaxpr.

Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax._src import core as _core
from jax._src import sharding_impls as _sharding_impls

from jaxstage_ext.core.jax_private import rematerialized

_UNSPECIFIED: Any = _sharding_impls.UNSPECIFIED  # type: ignore[attr-defined]
CONSTRAINT = "sharding_constraint"


def with_argument(traced: Any, number: int, sharding: Any) -> Any:
    """The trace of a call with an argument, by its number among all arrays that it is given, sharded otherwise."""
    made, given = copy.copy(traced), list(traced._params["in_shardings"])
    place = max(len(given) - len(traced.jaxpr.jaxpr.debug_info.arg_names or given), 0) + number
    given[place] = sharding
    types = list(traced._meta_tys_flat)
    types[place] = types[place].replace(sharding=sharding, format=None, committed=True)
    made._params, made._meta_tys_flat, made._lojax = traced._params | {"in_shardings": tuple(given)}, types, None
    return made


def with_free_result(traced: Any, number: int) -> Any:
    """The trace of a call whose result of that number XLA shards as it likes."""
    return with_result(traced, number, _UNSPECIFIED)


def with_result(traced: Any, number: int, sharding: Any) -> Any:
    """The trace of a call whose result of that number has another sharding, or lies in another memory."""
    made, given = copy.copy(traced), list(traced._params["out_shardings"])
    given[number] = sharding
    made._params, made._lojax = traced._params | {"out_shardings": tuple(given)}, None
    return made


def at_equation(target: Any, change: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A function that changes the jaxpr, at any depth, that has an equation: `change` gets both."""

    def changed(jaxpr: Any) -> Any:
        if any(eqn is target for eqn in jaxpr.eqns):
            return change(jaxpr, target)
        eqns = [rematerialized.with_inner(eqn, changed) for eqn in jaxpr.eqns]
        same = all(new is old for new, old in zip(eqns, jaxpr.eqns, strict=True))
        return jaxpr if same else rematerialized.with_equations(jaxpr, eqns, {})

    return changed


def without(jaxpr: Any, target: Any) -> Any:
    """The jaxpr with a constraint left out."""
    names = {target.outvars[0]: target.invars[0]}
    eqns = [rematerialized.renamed(eqn, names) for eqn in jaxpr.eqns if eqn is not target]
    return rematerialized.with_equations(jaxpr, eqns, names)


def dropped(jaxpr: Any, target: Any) -> Any:
    """The jaxpr without an equation that has no results."""
    return rematerialized.with_equations(jaxpr, [eqn for eqn in jaxpr.eqns if eqn is not target], {})


def through(jaxpr: Any, target: Any, operand: int, shardings: Sequence[Any]) -> Any:
    """The jaxpr in which an equation reads an operand after it was constrained to several shardings in turn."""
    value, steps = target.invars[operand], []
    for sharding in shardings:
        before, value = value, _core.Var(value.aval)
        steps.append(_constraint(before.aval, sharding).replace(invars=[before], outvars=[value]))
    read = [value if at == operand else one for at, one in enumerate(target.invars)]
    eqns: list[Any] = []
    for eqn in jaxpr.eqns:
        eqns += [*steps, eqn.replace(invars=read)] if eqn is target else [eqn]
    return rematerialized.with_equations(jaxpr, eqns, {})


def _constraint(aval: Any, sharding: Any) -> Any:
    """The equation that JAX makes of a constraint."""
    shape: Any = jax.ShapeDtypeStruct(aval.shape, aval.dtype)  # type: ignore[no-untyped-call, unused-ignore]
    constrain: Any = jax.lax.with_sharding_constraint
    made = jax.make_jaxpr(lambda x: constrain(x, sharding))(shape)
    return next(eqn for eqn in made.jaxpr.eqns if eqn.primitive.name == CONSTRAINT)
