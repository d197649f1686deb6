"""Jaxprs with jitted functions inlined, and with the equations of other functions in them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import jax
from jax._src import core as _core

from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.core.jax_private.rematerialized import renamed, with_equations

_struct: Any = jax.ShapeDtypeStruct
CALLS = ("jit", "pjit", "closed_call")
"""Primitives that call a function and do nothing else."""


_made: weakref.WeakKeyDictionary[Any, dict[tuple[str, ...], Any]] = weakref.WeakKeyDictionary()
"""What was inlined already, as long as the jaxpr that it was made of lives."""


def inlined(jaxpr: Any, names_of: Collection[str] = CALLS) -> Any:
    """The jaxpr with the equations of jitted functions, or of these primitives, where they close over nothing."""
    if not any(_can_inline(eqn, names_of) for eqn in jaxpr.eqns):
        return jaxpr
    made = _made.setdefault(jaxpr, {})
    key = tuple(names_of)
    if key not in made:
        names: dict[Any, Any] = {}
        eqns = list(_inlined(jaxpr.eqns, names, names_of))
        made[key] = with_equations(jaxpr, eqns, names)
    return made[key]


def _inlined(equations: Sequence[Any], names: dict[Any, Any], names_of: Collection[str]) -> Iterator[Any]:
    for eqn in equations:
        if not _can_inline(eqn, names_of):
            yield renamed(eqn, names)
            continue
        [inner] = jaxprs.inner_jaxprs(eqn)
        fresh = {v: _core.Var(v.aval) for one in inner.eqns for v in one.outvars if not isinstance(v, _core.DropVar)}
        own: dict[Any, Any] = {**fresh}
        own |= {v: named(names, given) for v, given in zip(inner.invars, eqn.invars, strict=True)}
        scope = eqn.source_info
        for one in _inlined(inner.eqns, own, names_of):
            stack = scope.name_stack + one.source_info.name_stack
            own_info = one.source_info if next(tracebacks.raw_frames(one), None) else scope
            made = one.replace(source_info=own_info.replace(name_stack=stack))
            yield made.replace(outvars=[fresh.get(v, v) for v in made.outvars])
        names |= {v: named(own, out) for v, out in zip(eqn.outvars, inner.outvars, strict=True)}


def named(names: dict[Any, Any], atom: Any) -> Any:
    """What a value is called now; a literal is itself."""
    return names.get(atom, atom) if isinstance(atom, _core.Var) else atom


def _can_inline(eqn: Any, names_of: Collection[str]) -> bool:
    if eqn.primitive.name not in names_of or eqn.effects:
        return False
    inner = jaxprs.inner_jaxprs(eqn)
    return len(inner) == 1 and not inner[0].constvars and not list(jaxprs.constants(eqn.params.get("jaxpr"), 0))


def traced_equations(function: Callable[..., Any], atoms: Sequence[Any], instead: Any) -> tuple[list[Any], list[Any]]:
    """(equations of a function of these values, its results); they stand where the equation `instead` stood."""
    avals = [_struct(v.aval.shape, v.aval.dtype) for v in atoms]
    closed = jax.make_jaxpr(function)(*avals)
    jaxpr = closed.jaxpr
    names = dict(zip(jaxpr.invars, atoms, strict=True))
    eqns = []
    for eqn in jaxpr.eqns:
        made = {v: _core.Var(v.aval) for v in eqn.outvars if not isinstance(v, _core.DropVar)}
        eqns.append(renamed(eqn, names, made).replace(source_info=instead.source_info))
        names |= made
    return eqns, [named(names, out) for out in jaxpr.outvars]
