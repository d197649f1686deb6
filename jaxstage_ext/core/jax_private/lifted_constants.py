"""A traced call that takes arrays that it closes over as its first arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
from jax._src import core as _core

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.report.unavailable import Unavailable

_CALLS = ("jit", "pjit")
_CARRIED = ("in_shardings", "in_layouts", "donated_invars")
_core_any: Any = _core
_struct: Any = jax.ShapeDtypeStruct


def lifted(traced: Any, constants: Sequence[Any], names: Sequence[str]) -> Any:
    """The trace of the same call with these constants of its jaxpr, and of functions jitted in it, as arguments.

    Raises Unavailable where it closes over Refs, or JAX does not trace it with arguments in their place.
    """
    if traced._consts:
        raise Unavailable("the function closes over a mutable array, so its constants cannot become arguments")
    closed = traced.jaxpr

    def function(given: Sequence[Any], *args: Any) -> Any:
        values = {id(constant): value for constant, value in zip(constants, given, strict=True)}
        return _evaluated(closed, values, args)

    avals = [_type(var.aval) for var in closed.jaxpr.invars]
    try:
        other = jax.jit(function).trace([_type(constant) for constant in constants], *avals)
    except Exception as error:
        raise Unavailable(f"JAX does not trace it with its constants as arguments: {error}") from None
    made, count = copy.copy(traced), len(constants)
    params = traced._params | {key: (*other._params[key][:count], *traced._params[key]) for key in _CARRIED}
    own = closed.jaxpr.debug_info.arg_names or ("",) * len(avals)
    made._params = params | {"jaxpr": _named(other.jaxpr, (*names, *own))}
    made._meta_tys_flat = [*other._meta_tys_flat[:count], *traced._meta_tys_flat]
    args, kwargs = jax.tree.unflatten(traced._in_tree, range(len(avals)))
    made._in_tree = jax.tree.structure(((list(range(count)), *args), kwargs))
    made._lojax = None
    return made


def _type(value: Any) -> Any:
    return _struct(value.shape, value.dtype, weak_type=bool(getattr(value, "weak_type", False)))


def _named(closed: Any, names: Sequence[str]) -> Any:
    info = closed.jaxpr.debug_info._replace(arg_names=tuple(names))
    inner = closed.jaxpr.replace(debug_info=info)
    return inner if isinstance(closed, _core.Jaxpr) else closed.replace(jaxpr=inner)


def _evaluated(closed: Any, values: dict[int, Any], args: Sequence[Any]) -> list[Any]:
    """The results of a jaxpr, with values in place of some of its constants."""
    jaxpr = closed.jaxpr
    known = dict(zip(jaxpr.constvars, (values.get(id(one), one) for one in closed.consts), strict=True))
    known |= dict(zip(jaxpr.invars, args, strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, _core.Literal) else known[atom]

    for eqns in _runs(jaxpr, lambda eqn: _holds(eqn, values)):
        if len(eqns) == 1 and _holds(eqns[0], values):
            [eqn] = eqns
            made = _evaluated(eqn.params["jaxpr"], values, [read(atom) for atom in eqn.invars])
            known |= dict(zip(eqn.outvars, made, strict=True))
            continue
        outs = [var for eqn in eqns for var in eqn.outvars if not isinstance(var, _core.DropVar)]
        part = jaxprs.forward_jaxpr(jaxpr, eqns, outs)
        known |= dict(zip(outs, _core_any.eval_jaxpr(part, [], *map(read, part.invars)), strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _runs(jaxpr: Any, alone: Callable[[Any], bool]) -> Iterator[list[Any]]:
    """The equations in order, those that are `alone` each by itself."""
    run: list[Any] = []
    for eqn in jaxpr.eqns:
        if alone(eqn):
            yield from [run] if run else []
            yield [eqn]
            run = []
        else:
            run.append(eqn)
    yield from [run] if run else []


def _holds(eqn: Any, values: dict[int, Any]) -> bool:
    """Whether it calls a jitted function that closes over one of these constants."""
    if eqn.primitive.name not in _CALLS:
        return False
    return any(id(constant) in values for constant in jaxprs.constants(eqn.params["jaxpr"]))
