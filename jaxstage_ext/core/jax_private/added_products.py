"""Products that are added to something one after the other, and the jaxpr in which they are added to each other first.

Partial sums of both are then summed over the devices in one collective.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jax._src import core as _core

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.resharded import CONSTRAINT

_PRODUCT = "dot_general"


class _Sum(NamedTuple):
    """A sum of two products and, where it has one, another value."""

    products: tuple[Any, Any]
    constraint: Any
    """An equation that constrains one of the products; None without one."""
    rest: Any
    """What they are added to; None without."""


def found(jaxpr: Any) -> Iterator[Any]:
    """The additions, at any depth, that can be put off so."""
    for inner in jaxprs.all_jaxprs(jaxpr):
        for eqn in inner.eqns:
            if eqn.primitive.name == "add" and _sum(inner, eqn) is not None:
                yield eqn


def added_first(jaxpr: Any, addition: Any) -> Any:
    """The jaxpr that adds the products first."""
    of = _sum(jaxpr, addition)
    assert of is not None
    first, second = of.products
    total = _core.Var(first.aval)
    made = [addition.replace(invars=[first, second], outvars=[total])]
    if of.constraint is not None:
        constrained = _core.Var(total.aval)
        made.append(of.constraint.replace(invars=[total], outvars=[constrained]))
        total = constrained
    if of.rest is not None:
        made.append(addition.replace(invars=[of.rest, total], outvars=addition.outvars))
    names = {} if of.rest is not None else {addition.outvars[0]: total}
    equations: list[Any] = []
    for eqn in jaxpr.eqns:
        equations += made if eqn is addition else [rematerialized.renamed(eqn, names)]
    return rematerialized.with_equations(jaxpr, equations, names)


def _sum(jaxpr: Any, addition: Any) -> _Sum | None:
    makers = jaxprs.makers(jaxpr)
    operands = jaxprs.variables(addition.invars)
    if len(operands) != 2:
        return None
    for one, other in (operands, operands[::-1]):
        product, asked = _product(one, makers)
        if product is None:
            continue
        second, also = _product(other, makers)
        if second is not None:
            return _Sum((second, product), asked, None) if asked and also else None
        before = makers.get(other)
        if before is None or before.primitive.name != "add" or _reads(jaxpr, other) != 1:
            continue
        terms = jaxprs.variables(before.invars)
        for term, rest in (terms, terms[::-1]) if len(terms) == 2 else ():
            second, also = _product(term, makers)
            if second is not None:
                return _Sum((second, product), asked or also, rest)
    return None


def _product(value: Any, makers: Mapping[Any, Any]) -> tuple[Any, Any]:
    """(what a product gives, the constraint that it has); None for each that there is not."""
    constraint, eqn = None, makers.get(value)
    if eqn is not None and eqn.primitive.name == CONSTRAINT:
        constraint, value = eqn, eqn.invars[0]
        eqn = makers.get(value)
    return (value, constraint) if eqn is not None and eqn.primitive.name == _PRODUCT else (None, None)


def _reads(jaxpr: Any, value: Any) -> int:
    read = [*(var for eqn in jaxpr.eqns for var in jaxprs.variables(eqn.invars)), *jaxprs.variables(jaxpr.outvars)]
    return read.count(value)
