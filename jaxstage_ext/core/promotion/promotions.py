"""Operands that force narrow values of a program to a wider dtype, and the program without that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core.jax_private import jaxprs, rewritten, tracebacks
from jaxstage_ext.core.promotion.promotion_values import InfectedValues, OperandSource, SourceKind, Value, Widths, named
from jaxstage_ext.core.promotion.promotion_walk import CONVERT, PRODUCTS, PromotionWalk

_WIDTHS = (Widths("bfloat16", "float32"), Widths("float16", "float32"), Widths("float32", "float64"))
_EXPLICIT = named("astype _astype asarray array convert_element_type sum mean full reduce_sum _var")
"""JAX's functions that convert because they are told to, or to accumulate."""
_PROMOTES = "promote_dtype"
"""The function of flax that converts to a common dtype."""
OWN = frozenset({SourceKind.LITERAL, SourceKind.CAPTURED, SourceKind.MADE})
"""Operands that the program brings itself."""
ALL = frozenset(SourceKind)


@dataclass(frozen=True)
class Promotions:
    """What operands make wide, the first in the program first."""

    widths: Widths
    follows: frozenset[SourceKind]
    infected: tuple[InfectedValues, ...]
    products: float
    """FLOPs of all products of the program."""


class _Counts:
    """Writes nothing."""

    def cast(self, array: Any, dtype: str) -> Any:
        return None

    def literal(self, atom: Any) -> Any:
        return None

    def apply(self, eqn: Any, arrays: Sequence[Any], dtype: str | None) -> list[Any]:
        return [None] * len(eqn.outvars)

    def with_bodies(self, eqn: Any, walk: Callable[[Any], Callable[[Sequence[Any]], list[Any]]]) -> Any:
        for body in jaxprs.inner_jaxprs(eqn):
            walk(body)([None] * (len(body.constvars) + len(body.invars)))
        return eqn


def widths_of(jaxpr: Any, is_implicit: Implicit) -> list[Widths]:
    """The dtypes between which a program promotes where it was not told to."""
    found: set[Widths] = set()
    for current in jaxprs.all_jaxprs(jaxpr):
        for eqn in current.eqns:
            name = eqn.primitive.name
            if name == CONVERT:
                pairs = [w for w in _WIDTHS if w.is_narrow(eqn.invars[0]) and w.is_wide(eqn.outvars[0])]
                found.update(pairs if pairs and is_implicit(eqn) else ())
            elif name in PRODUCTS:
                operands = eqn.invars[:2]
                found.update(w for w in _WIDTHS if any(map(w.is_narrow, operands)) and any(map(w.is_wide, operands)))
    return [widths for widths in _WIDTHS if widths in found]


class Implicit:
    """Whether a conversion was made to match another operand, not because the program says so."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def __call__(self, eqn: Any) -> bool:
        stack = tracebacks.stack_identity(eqn)
        if stack not in self._known:
            names = list(tracebacks.own_frames(eqn))
            self._known[stack] = bool(names) and (names[-1] == _PROMOTES or _EXPLICIT.isdisjoint(names))
        return self._known[stack]


def read(jaxpr: Any, widths: Widths, follows: frozenset[SourceKind], is_implicit: Implicit) -> Promotions:
    """What operands of these kinds make wide in a (closed) jaxpr."""
    inner = jaxpr.jaxpr
    walk = PromotionWalk(widths, follows, is_implicit, _Counts())
    walk.run(inner, _given(inner, widths, [None] * (len(inner.constvars) + len(inner.invars))))
    return Promotions(widths, follows, tuple(walk.infected.values()), walk.all_products)


def without(jaxpr: Any, widths: Widths, follows: frozenset[SourceKind]) -> Any:
    """The jaxpr with those operands narrow, and what is computed of them, results too. Raises Unavailable."""

    def run(arrays: Sequence[Any]) -> list[Any]:
        walk = PromotionWalk(widths, follows, Implicit(), rewritten.EquationWriter())
        return [value.array for value in walk.run(jaxpr, _given(jaxpr, widths, arrays))]

    return rewritten.traced_anew(jaxpr, run)


def _given(jaxpr: Any, widths: Widths, arrays: Sequence[Any]) -> list[Value]:
    first = len(jaxpr.constvars)
    return [
        Value(source=_source(at, first) if widths.is_wide(var) else None, array=array)
        for at, (var, array) in enumerate(zip([*jaxpr.constvars, *jaxpr.invars], arrays, strict=True))
    ]


def _source(at: int, first: int) -> OperandSource:
    if at < first:
        return OperandSource(SourceKind.CAPTURED, at)
    return OperandSource(SourceKind.ARGUMENT, at - first)
