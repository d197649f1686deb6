"""Refs, the mutable arrays of JAX: which a program takes, which equations read and write them, what it gives back.

The caller's Refs are arguments, or are reached by a closure; their new contents are results of the module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jax._src import core as _core
from jax._src.state.types import RefEffect as _RefEffect

from jaxstage_ext.core.jax_private.jaxprs import inner_jaxprs

CAPTURED = "a captured Ref"
Namer = Callable[[Sequence[Any]], list[str]]
"""What Refs that a function closes over are called."""
Accesses = dict[int, dict[str, set[str]]]
"""By the `id` of an equation: the Refs that it reads or writes, and JAX's names of the effects."""


def is_ref(value: Any) -> bool:
    """Whether it is a mutable array, which a program reads and writes in place."""
    return isinstance(value, _core.Ref)


def is_token(value: Any) -> bool:
    """Whether it is a token, which orders effects and holds nothing."""
    return isinstance(value, _core.Token)


def unnamed(refs: Sequence[Any]) -> list[str]:
    """Where nobody knows the function that closes over them."""
    return [CAPTURED] * len(refs)


def captured(lowered: Any) -> tuple[Any, ...]:
    """The Refs that a lowered function closes over; they are the last of the module's parameters."""
    mutable = lowered._lowering.compile_args.get("mut")
    return tuple(mutable.in_mut) if mutable is not None else ()


def result_names(lowered: Any, arguments: Sequence[str], results: Sequence[str]) -> tuple[str, ...]:
    """The names of the module's results: `results`, and between them the Refs whose new contents it gives."""
    mutable = lowered._lowering.compile_args.get("mut")
    if mutable is None:
        return tuple(results)
    own = iter(results)
    return tuple(
        next(own, "") if index is None else f"{arguments[index] if index < len(arguments) else CAPTURED} (new contents)"
        for index in mutable.out_mut
    )


def accesses(
    closed_jaxpr: Any, arguments: Sequence[str], namer: Namer = unnamed, hidden: frozenset[str] = frozenset()
) -> Accesses:
    """Which equations read or write the caller's Refs, those inside others too, but for the primitives `hidden`."""
    jaxpr = closed_jaxpr.jaxpr
    refs = [value for value in closed_jaxpr.consts if is_ref(value)]
    names = iter(namer(refs))
    given = {
        var: next(names, CAPTURED)
        for var, value in zip(jaxpr.constvars, closed_jaxpr.consts, strict=True)
        if is_ref(value)
    }
    given |= {var: name for var, name in zip(jaxpr.invars, arguments, strict=False) if _is_ref_type(var)}
    found: Accesses = {}
    if given:
        _follow(jaxpr, given, hidden, found)
    return found


def _follow(jaxpr: Any, names: dict[Any, str], hidden: frozenset[str], found: Accesses) -> None:
    for eqn in jaxpr.eqns:
        inner = [] if eqn.primitive.name in hidden else [getattr(one, "jaxpr", one) for one in inner_jaxprs(eqn)]
        for one in inner:
            _follow(one, dict(_passed(eqn, one, names)), hidden, found)
        if not inner:
            for var, effect in _touched(eqn, names):
                found.setdefault(id(eqn), {}).setdefault(names[var], set()).add(effect)


def _passed(eqn: Any, inner: Any, names: dict[Any, str]) -> Iterator[tuple[Any, str]]:
    """The parameters of a jaxpr inside that are the caller's Refs: they are the last operands, in their order."""
    own = eqn.invars[-len(inner.invars) :] if inner.invars else []
    for var, given in zip(inner.invars, own, strict=False):
        if _is_ref_type(var) and not isinstance(given, _core.Literal) and given in names:
            yield var, names[given]
    for var in inner.constvars:
        if var in names:
            yield var, names[var]


def _touched(eqn: Any, names: dict[Any, str]) -> Iterator[tuple[Any, str]]:
    for effect in eqn.effects:
        if isinstance(effect, _RefEffect):
            at: Any = effect.input
            var = eqn.invars[at] if isinstance(at, int) else at
            if not isinstance(var, _core.Literal) and var in names:
                yield var, type(effect).__name__.removesuffix("Effect")


def _is_ref_type(var: Any) -> bool:
    return hasattr(getattr(var, "aval", None), "inner_aval")
