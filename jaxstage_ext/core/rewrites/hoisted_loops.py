"""A jaxpr with what loops compute anew in each iteration, from what never changes, computed once before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rewritten import EquationWriter, traced_anew
from jaxstage_ext.report.unavailable import Unavailable

_CHEAP = frozenset({"broadcast_in_dim", "iota", "reshape", "squeeze", "expand_dims", "copy", "convert_element_type"})
"""What a loop may as well compute anew."""
_WRITER = EquationWriter()
Arrays = Sequence[Any]


def hoisted(jaxpr: Any) -> Any:
    """The jaxpr with that work before its loops. Raises Unavailable where there is none, or it cannot be moved."""
    if not can_hoist(jaxpr):
        raise Unavailable("no equation of a loop reads only what never changes; what repeats is part of an equation")
    return _rewritten(jaxpr)


def can_hoist(jaxpr: Any) -> bool:
    """Whether equations of a loop can be moved before it; what is inside of others, such as a checkpoint, cannot."""
    return any(_has_work(inner) for inner in jaxprs.all_jaxprs(jaxpr))


def _rewritten(jaxpr: Any) -> Any:
    if not can_hoist(jaxpr):
        return jaxpr
    return traced_anew(jaxpr, lambda arrays: _run(jaxpr, arrays))


def _has_work(jaxpr: Any) -> bool:
    return any(_moved(eqn) for eqn in jaxpr.eqns if eqn.primitive.name in ("scan", "while"))


def _run(jaxpr: Any, arrays: Arrays) -> list[Any]:
    known: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], arrays, strict=True))
    _apply(jaxpr.eqns, known)
    return [_read(known, atom) for atom in jaxpr.outvars]


def _read(known: dict[Any, Any], atom: Any) -> Any:
    return atom.val if jaxprs.is_literal(atom) else known[atom]


def _apply(equations: Sequence[Any], known: dict[Any, Any]) -> None:
    for eqn in equations:
        given = [_read(known, atom) for atom in eqn.invars]
        loop = _LOOPS.get(eqn.primitive.name)
        if loop is not None and _moved(eqn):
            made = loop(eqn, given)
        else:
            made = _WRITER.apply(rematerialized.with_inner(eqn, _rewritten), given, None)
        known.update(zip(eqn.outvars, made, strict=True))


def _moved(eqn: Any) -> list[Any]:
    """The equations of a loop's body that read only what never changes, without those that are cheap at its end."""
    if eqn.primitive.name == "scan":
        body = _body(eqn.params["jaxpr"])
        fixed = len(jaxprs.parts_of_scan(eqn.params, [None] * len(eqn.invars))[0])
    else:
        body, fixed = _body(eqn.params["body_jaxpr"]), eqn.params["body_nconsts"]
    known = {*body.constvars, *body.invars[:fixed]}
    moved = []
    for inner in body.eqns:
        if not inner.effects and known.issuperset(jaxprs.variables(inner.invars)):
            known.update(inner.outvars)
            moved.append(inner)
    return moved if any(inner.primitive.name not in _CHEAP for inner in moved) else []


def _body(closed: Any) -> Any:
    return getattr(closed, "jaxpr", closed)


def _scan(eqn: Any, given: Arrays) -> list[Any]:
    params = eqn.params
    fixed, carry, over = jaxprs.parts_of_scan(params, given)
    run = _rest(params["jaxpr"], _moved(eqn), fixed)

    def step(carried: Any, one: Any) -> Any:
        made = run([*carried, *one])
        return tuple(made[: len(carry)]), tuple(made[len(carry) :])

    how = {name: params[name] for name in ("length", "reverse", "unroll")}
    last, stacked = jax.lax.scan(step, tuple(carry), tuple(over), **how)
    return [*last, *stacked]


def _while(eqn: Any, given: Arrays) -> list[Any]:
    params = eqn.params
    test, fixed = params["cond_nconsts"], params["body_nconsts"]
    run = _rest(params["body_jaxpr"], _moved(eqn), given[test : test + fixed])
    goes_on = _rest(params["cond_jaxpr"], [], given[:test])
    made = jax.lax.while_loop(
        lambda c: goes_on(list(c))[0], lambda c: tuple(run(list(c))), tuple(given[test + fixed :])
    )
    return list(made)


_LOOPS: dict[str, Callable[[Any, Arrays], list[Any]]] = {"scan": _scan, "while": _while}


def _rest(closed: Any, moved: Sequence[Any], fixed: Arrays) -> Callable[[Arrays], list[Any]]:
    """What is left of a loop's body once some of its equations have run."""
    body, consts = _body(closed), list(getattr(closed, "consts", ()))
    known: dict[Any, Any] = dict(zip([*body.constvars, *body.invars[: len(fixed)]], [*consts, *fixed], strict=True))
    _apply(moved, known)
    gone = set(map(id, moved))
    left = [eqn for eqn in body.eqns if id(eqn) not in gone]

    def run(changing: Arrays) -> list[Any]:
        own = known | dict(zip(body.invars[len(fixed) :], changing, strict=True))
        _apply(left, own)
        return [_read(own, atom) for atom in body.outvars]

    return run
