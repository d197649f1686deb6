"""Random keys that a jaxpr uses twice, by the checker of `jax.experimental.key_reuse`, without a trace or a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax._src import core as _core

from jaxstage_ext.core.jax_private import jaxprs

_LOOPS, _PICKING = ("scan", "while"), ("dynamic_slice", "gather")


class KeyReuse(NamedTuple):
    """A key that is used twice."""

    eqn: Any
    """The equation that uses it again, or the call that holds it."""
    earlier: Any
    """The one that used it before; None where that is in a loop, or not known."""
    argument: str
    """The path of the argument that it is, "key" or "state['rng']"; "" of a key that the program makes."""


def reused_keys(closed: Any) -> list[KeyReuse]:
    """The first reuse in a closed jaxpr and in each that its equations hold; of a reuse inside another only that."""
    every = jaxprs.all_jaxprs(closed)
    if not any(eqn.primitive.name.startswith("random_") for each in every for eqn in each.eqns):
        return []
    from jax.experimental.key_reuse import _core as checker  # two modules, which add nothing to JAX's trace context

    found, inside = list[KeyReuse](), set[int]()
    for jaxpr in reversed(every):
        held = {id(inner) for eqn in jaxpr.eqns for inner in jaxprs.inner_jaxprs(eqn)}
        if held & inside:
            inside.add(id(jaxpr))
        elif (reuse := _first(checker, jaxpr)) is not None:
            inside.add(id(jaxpr))
            found.append(reuse)
    return found[::-1]


def _first(checker: Any, jaxpr: Any) -> KeyReuse | None:
    one = _with_one_wrap(jaxpr)
    if not _is_reused(checker, one, len(one.eqns)):
        return None
    fine, reused = 0, len(one.eqns)
    while reused - fine > 1:
        middle = (fine + reused) // 2
        fine, reused = (fine, middle) if _is_reused(checker, one, middle) else (middle, reused)
    eqn = one.eqns[reused - 1]
    keys = {v for v in eqn.invars if isinstance(v, _core.Var) and _is_key(v)}
    before = [other for other in one.eqns[: reused - 1] if keys.intersection(jaxprs.variables(other.invars))]
    if not before and not (eqn.primitive.name in _LOOPS and not _picks(eqn)):
        return None  # of keys[i] and keys[j] the checker does not see that they differ
    wrapped = {v: other.invars[0] for other in one.eqns for v in other.outvars if other.primitive.name == "random_wrap"}
    names = dict(zip(jaxpr.invars, jaxpr.debug_info.arg_names or (), strict=False))
    named = next((names[v] for key in keys if (v := wrapped.get(key, key)) in names), "")
    return KeyReuse(eqn, next(reversed(before), None), str(named or ""))


def _picks(eqn: Any) -> bool:
    """Whether a loop picks keys of an array by an index, each of which it takes for the same."""
    every = (inner for outer in jaxprs.inner_jaxprs(eqn) for inner in jaxprs.all_jaxprs(outer))
    picking = (each for jaxpr in every for each in jaxpr.eqns if each.primitive.name in _PICKING)
    return any(_is_key(each.outvars[0]) for each in picking)


def _is_key(var: Any) -> bool:
    return hasattr(var.aval, "dtype") and jnp.issubdtype(var.aval.dtype, jax.dtypes.prng_key)


def _is_reused(checker: Any, jaxpr: Any, count: int) -> bool:
    """Whether the first equations of a jaxpr use a key twice."""
    part = jaxpr.replace(eqns=jaxpr.eqns[:count], outvars=[], debug_info=jaxpr.debug_info.with_unknown_names())
    try:
        checker.jaxpr_type_signature(part)
    except jax.errors.KeyReuseError:
        return True
    return False


def _with_one_wrap(jaxpr: Any) -> Any:
    """The jaxpr with each array of key data wrapped once: functions of `jax.random` wrap it anew in each call."""
    known: dict[Any, Any] = {}
    names: dict[Any, Any] = {}
    eqns = []
    for eqn in _renamed(jaxpr.eqns, names):
        if eqn.primitive.name == "random_wrap" and (at := (eqn.invars[0], str(eqn.params))) in known:
            names[eqn.outvars[0]] = known[at]
            continue
        if eqn.primitive.name == "random_wrap":
            known[at] = eqn.outvars[0]
        eqns.append(eqn)
    outvars = [names.get(v, v) if isinstance(v, _core.Var) else v for v in jaxpr.outvars]
    return jaxpr.replace(eqns=eqns, outvars=outvars, debug_info=jaxpr.debug_info)


def _renamed(eqns: Any, names: dict[Any, Any]) -> Iterator[Any]:
    for eqn in eqns:
        invars = [names.get(v, v) if isinstance(v, _core.Var) else v for v in eqn.invars]
        yield eqn.replace(invars=invars) if any(a is not b for a, b in zip(invars, eqn.invars, strict=True)) else eqn
