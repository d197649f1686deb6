"""Scans that copy, in each iteration, the part of an array that it reads, where all of it was copied before them.

Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax._src import core as _core

from jaxstage_ext.core.jax_private import jaxprs, loop_bodies, rematerialized


def gone_through(loop: Any) -> list[Any]:
    """The arrays that a scan takes a part of in each iteration; none of another equation."""
    if loop.primitive.name != "scan":
        return []
    return jaxprs.variables(jaxprs.parts_of_scan(loop.params, loop.invars)[2])


def read_in_turn(jaxpr: Any, copy: Any) -> list[tuple[Any, Any]]:
    """(what goes in, what comes out) of a `device_put`, where scans that go over it are all that reads it."""
    others = {var for eqn in jaxpr.eqns for var in _read_whole(eqn)} | set(jaxprs.variables(jaxpr.outvars))
    turned = {var for eqn in jaxpr.eqns for var in gone_through(eqn)} - others
    return [(given, out) for given, out in zip(copy.invars, copy.outvars, strict=True) if out in turned]


def _read_whole(eqn: Any) -> list[Any]:
    read = jaxprs.variables(eqn.invars)
    turned = gone_through(eqn)
    return [var for var in read if read.count(var) > turned.count(var)]


def moved_into_scans(jaxpr: Any, copy: Any) -> Any:
    """The jaxpr whose scans make the copies."""
    moved = {out: given for given, out in read_in_turn(jaxpr, copy)}
    one = {out: _of_one(copy, at) for at, out in enumerate(copy.outvars) if out in moved}
    equations = [_copying(eqn, one, moved) for eqn in jaxpr.eqns if eqn is not copy or len(moved) < len(copy.outvars)]
    return rematerialized.with_equations(jaxpr, equations, {})


def _of_one(copy: Any, at: int) -> Any:
    """The copy of one of the arrays."""
    params = {name: value[at : at + 1] if type(value) is tuple else value for name, value in copy.params.items()}
    return copy.replace(params=params, invars=copy.invars[at : at + 1], outvars=copy.outvars[at : at + 1])


def _copying(loop: Any, copies: Mapping[Any, Any], moved: Mapping[Any, Any]) -> Any:
    """A scan that goes over what the copies are given, and makes them of a part in its body."""
    turned = set(gone_through(loop)) & copies.keys()
    if not turned:
        return loop
    body, renamed, equations = loop_bodies.body_of(loop), dict[Any, Any](), list[Any]()
    for inner, given in zip(body.invars, loop.invars, strict=True):
        if not jaxprs.is_literal(given) and given in turned:
            renamed[inner] = _core.Var(inner.aval)
            equations.append(copies[given].replace(invars=[renamed[inner]], outvars=[inner]))
    invars = [renamed.get(var, var) for var in body.invars]
    changed = body.replace(invars=invars, eqns=[*equations, *body.eqns], debug_info=body.debug_info)
    made = rematerialized.with_inner(loop, lambda held: changed if held is body else held)
    return made.replace(invars=[v if jaxprs.is_literal(v) or v not in turned else moved[v] for v in made.invars])
