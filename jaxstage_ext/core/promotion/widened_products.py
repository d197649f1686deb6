"""Products of f32 values that are bf16 or f16 values converted, which the narrow product gives to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rewritten import EquationWriter, traced_anew
from jaxstage_ext.core.promotion.promotion_values import named
from jaxstage_ext.core.promotion.promotion_walk import CALLS, CONVERT
from jaxstage_ext.report.unavailable import Unavailable

_NARROW = named("bfloat16 float16")
_MOVES = named(
    "broadcast_in_dim copy expand_dims reshape rev slice squeeze stop_gradient transpose optimization_barrier"
)
_WRITER = EquationWriter()


class WidenedProducts:
    """Those of a jaxpr and of what it runs, by the ids of their equations."""

    def __init__(self, jaxpr: Any) -> None:
        self.equations: dict[int, Any] = {}
        self.flops: dict[int, float] = {}
        self.narrow: dict[int, str] = {}
        """The dtype of both operands before they were converted."""
        self._others: set[int] = set()
        self._runs = 1.0
        self._walk(jaxpr, [""] * (len(jaxpr.constvars) + len(jaxpr.invars)))
        for at in (self._others | _unused(jaxpr)) & self.equations.keys():
            del self.equations[at], self.flops[at], self.narrow[at]

    def _walk(self, jaxpr: Any, given: Sequence[str]) -> list[str]:
        """The dtype of which each result is a converted value; "" of none."""
        return jaxprs.evaluated(
            jaxpr, given, lambda eqn, read: self._equation(eqn, list(map(read, eqn.invars))), lambda literal: ""
        )

    def _equation(self, eqn: Any, ins: list[str]) -> list[str]:
        name, inner = eqn.primitive.name, jaxprs.inner_jaxprs(eqn)
        if name in CALLS and len(inner) == 1 and len(inner[0].constvars) + len(inner[0].invars) == len(ins):
            return self._walk(inner[0], ins)
        if inner:
            self._inside(eqn, inner, ins)
        elif name == CONVERT:
            source = str(eqn.invars[0].aval.dtype)
            return [source if source in _NARROW and str(eqn.outvars[0].aval.dtype) == "float32" else ""]
        elif name in _MOVES:
            return (ins + [""] * len(eqn.outvars))[: len(eqn.outvars)]
        elif name == "dot_general":
            self._product(eqn, ins)
        return [""] * len(eqn.outvars)

    def _inside(self, eqn: Any, inner: Sequence[Any], ins: list[str]) -> None:
        outer, given = self._runs, list[str]()
        if eqn.primitive.name == "scan":
            fixed, carried, over = jaxprs.parts_of_scan(eqn.params, ins)
            given, self._runs = [*fixed, *[""] * len(carried), *over], outer * eqn.params["length"]
        for body in inner:
            count = len(body.constvars) + len(body.invars)
            self._walk(body, given if len(given) == count else [""] * count)
        self._runs = outer

    def _product(self, eqn: Any, ins: list[str]) -> None:
        if not ins[0] or ins[0] != ins[1] or eqn.params.get("preferred_element_type") not in (None, "float32"):
            self._others.add(id(eqn))
            return
        (contracted, _), _ = eqn.params["dimension_numbers"]
        shape = eqn.invars[0].aval.shape
        work = 2.0 * math.prod(eqn.outvars[0].aval.shape) * math.prod(shape[axis] for axis in contracted)
        self.equations[id(eqn)], self.narrow[id(eqn)] = eqn, ins[0]
        self.flops[id(eqn)] = self.flops.get(id(eqn), 0.0) + float(work) * self._runs


def _unused(jaxpr: Any) -> set[int]:
    """The equations that no result of their jaxpr needs."""
    unused = set[int]()
    for one in jaxprs.all_jaxprs(jaxpr):
        needed = set(jaxprs.variables(one.outvars))
        for eqn in reversed(one.eqns):
            if eqn.effects or not needed.isdisjoint(eqn.outvars):
                needed.update(jaxprs.variables(eqn.invars))
            else:
                unused.add(id(eqn))
    return unused


def narrowed(jaxpr: Any) -> Any:
    """The jaxpr with these products of narrow operands, accumulated in f32. Raises Unavailable where there are none."""
    found = WidenedProducts(jaxpr)
    if not found.equations:
        raise Unavailable("no product has operands that are converted from a narrower dtype")
    return _rewritten(jaxpr, found)


def _rewritten(jaxpr: Any, found: WidenedProducts) -> Any:
    held = {id(eqn) for one in jaxprs.all_jaxprs(jaxpr) for eqn in one.eqns}
    if held.isdisjoint(found.equations):
        return jaxpr

    def results(eqn: Any, read: Callable[[Any], Any]) -> list[Any]:
        given = list(map(read, eqn.invars))
        if (narrow := found.narrow.get(id(eqn))) is None:
            return _WRITER.apply(rematerialized.with_inner(eqn, lambda body: _rewritten(body, found)), given, None)
        same = eqn.replace(params=eqn.params | {"preferred_element_type": eqn.outvars[0].aval.dtype, "precision": None})
        return _WRITER.apply(same, [_WRITER.cast(array, narrow) for array in given], None)

    return traced_anew(jaxpr, lambda arrays: jaxprs.evaluated(jaxpr, arrays, results))
