"""Barriers of the program's own between operations that XLA would fuse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jaxstage_ext.core.equation_runs import equation_runs
from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.promotion.promotion_walk import ELEMENTWISE
from jaxstage_ext.report.unavailable import Unavailable

BARRIER = "optimization_barrier"


class FusionBarrier(NamedTuple):
    """One such barrier."""

    eqn: Any
    size: int
    """Bytes of the values that are kept from being fused, over all runs."""


def fusion_barriers(jaxpr: Any) -> Iterator[FusionBarrier]:
    """Those of a jaxpr and of what it runs."""
    runs = {id(eqn): times for eqn, (times, _) in equation_runs(jaxpr) if eqn.primitive.name == BARRIER}
    for one in jaxprs.all_jaxprs(jaxpr) if runs else ():
        makers, readers = jaxprs.makers(one), jaxprs.readers(one)
        for eqn in one.eqns:
            if eqn.primitive.name == BARRIER and (size := _kept_apart(eqn, makers, readers)):
                yield FusionBarrier(eqn, size * runs.get(id(eqn), 1))


def _kept_apart(eqn: Any, makers: Mapping[Any, Any], readers: Mapping[Any, Sequence[Any]]) -> int:
    """Bytes of what elementwise operations make and read alone, on both sides of a barrier."""
    pairs = [(given, out) for given, out in zip(eqn.invars, eqn.outvars, strict=True) if not jaxprs.is_literal(given)]
    return sum(
        math.prod(given.aval.shape) * int(given.aval.dtype.itemsize)
        for given, out in pairs
        if given in makers and out in readers and all(map(_is_elementwise, (makers[given], *readers[out])))
    )


def _is_elementwise(eqn: Any) -> bool:
    return eqn.primitive.name in ELEMENTWISE


def without_barriers(jaxpr: Any) -> Any:
    """The jaxpr without its barriers. Raises Unavailable where there are none."""
    if all(eqn.primitive.name != BARRIER for one in jaxprs.all_jaxprs(jaxpr) for eqn in one.eqns):
        raise Unavailable("there is no barrier")
    return _rewritten(jaxpr)


def _rewritten(jaxpr: Any) -> Any:
    names: dict[Any, Any] = {}
    equations = []
    for eqn in jaxpr.eqns:
        changed = rematerialized.with_inner(rematerialized.renamed(eqn, names), _rewritten)
        if eqn.primitive.name == BARRIER:
            names.update(zip(eqn.outvars, changed.invars, strict=True))
        else:
            equations.append(changed)
    return rematerialized.with_equations(jaxpr, equations, names)
