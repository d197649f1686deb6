"""Follows what operands force on narrow values: which values of a jaxpr would be narrow without them.

At an operation of a narrow value that JAX converted to match a wider operand, the operand is taken to be narrow
instead, where no narrow value is part of it; what is converted on purpose (`astype`) stays as it is. The result, and
what is computed of it, is then narrow, up to where it meets a wide value that depends on a narrow one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.promotion.promotion_values import InfectedValues, OperandSource, SourceKind, Value, Widths, named

CONVERT = "convert_element_type"
CALLS = named("jit pjit closed_call core_call core_closed_call custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr")
LOOPS = named("scan while cond")
CHECKPOINTS = named("checkpoint remat remat2")
PRODUCTS = named("dot_general conv_general_dilated")
_SHAPE_ONLY = named(
    "broadcast_in_dim concatenate copy dynamic_slice expand_dims gather pad reshape rev slice split squeeze "
    "stop_gradient transpose"
)
ELEMENTWISE = named(
    "abs add add_any atan2 cbrt ceil clamp cos cosh cumlogsumexp cummax cummin cumprod cumsum div eq erf erf_inv erfc "
    "exp exp2 expm1 floor ge gt integer_pow is_finite le log log1p logistic lt max min mul ne neg pow rem round rsqrt "
    "select_n sign sin sinh sqrt square sub tan tanh"
)
_REDUCTIONS = named("argmax argmin reduce_max reduce_min reduce_prod reduce_sum")
_UPDATES = named("dynamic_update_slice scatter scatter-add")
_FOLLOWED = _SHAPE_ONLY | ELEMENTWISE | _REDUCTIONS | _UPDATES | PRODUCTS


class Writer(Protocol):
    """Writes the jaxpr that has the narrow values, or nothing where they are only counted."""

    def cast(self, array: Any, dtype: str) -> Any: ...
    def apply(self, eqn: Any, arrays: Sequence[Any], dtype: str | None) -> list[Any]:
        """The results of an equation; `dtype`, where they are narrow."""

    def literal(self, atom: Any) -> Any: ...
    def with_bodies(self, eqn: Any, walk: Callable[[Any], Any]) -> Any:
        """The equation with each jaxpr that it holds replaced by what `walk` leaves of it."""


class PromotionWalk:
    """One walk over a jaxpr."""

    def __init__(
        self, widths: Widths, follows: frozenset[SourceKind], is_implicit: Callable[[Any], bool], writer: Writer
    ) -> None:
        self._widths, self._follows, self._is_implicit, self._writer = widths, follows, is_implicit, writer
        self.infected: dict[int, InfectedValues] = {}
        """By the id of the source, in the order of the program."""
        self.all_products = 0.0
        """FLOPs of all products."""
        self._runs = 1.0

    def run(self, jaxpr: Any, given: Sequence[Value]) -> list[Value]:
        """The results of a jaxpr; a narrow one is counted as returned."""
        results = self.walk(jaxpr, given)
        for value in results:
            if value.is_narrow and value.cause is not None:
                self.infected[id(value.cause)].is_returned = True
        return results

    def walk(self, jaxpr: Any, given: Sequence[Value]) -> list[Value]:
        return jaxprs.evaluated(
            jaxpr, given, lambda eqn, read: self._equation(eqn, list(map(read, eqn.invars))), self._literal
        )

    def _literal(self, atom: Any) -> Value:
        is_wide = self._widths.is_wide(atom)
        source = OperandSource(SourceKind.LITERAL, value=atom.val) if is_wide else None
        return Value(source=source, array=self._writer.literal(atom))

    def _equation(self, eqn: Any, ins: list[Value]) -> list[Value]:
        name = eqn.primitive.name
        if name in CALLS and (inner := _called(eqn, len(ins))) is not None:
            body, consts = inner
            made = [Value(array=self._writer.cast(const, ""), source=self._of_const(eqn)) for const in consts]
            return self.walk(body, [*made, *ins])
        if name == CONVERT:
            return [self._conversion(eqn, ins[0])]
        if name in _FOLLOWED and "algorithm" not in _set(eqn):
            return self._followed(eqn, ins)
        return self._opaque(eqn, ins)

    def _of_const(self, eqn: Any) -> OperandSource:
        return OperandSource(SourceKind.MADE, eqn=eqn)

    def _conversion(self, eqn: Any, value: Value) -> Value:
        source, target, widths = eqn.invars[0], eqn.outvars[0], self._widths
        if widths.is_narrow(source) and widths.is_wide(target):
            if self._is_implicit(eqn):
                return Value(is_narrow=True, is_converted=True, array=value.array)
            return Value(array=self._applied(eqn, [value])[0])
        if widths.is_wide(source) and widths.is_narrow(target) and value.is_narrow:
            return Value(array=value.array)
        if widths.is_wide(source) and widths.is_wide(target):
            return value
        made = None
        if widths.is_wide(target) and not widths.is_narrow(source) and not _is_float(source):
            made = OperandSource(SourceKind.MADE, eqn=eqn)
        return Value(source=made, array=self._writer.apply(eqn, [value.array], None)[0])

    def _followed(self, eqn: Any, ins: list[Value]) -> list[Value]:
        widths = self._widths
        wide = [(atom, value) for atom, value in zip(eqn.invars, ins, strict=True) if widths.is_wide(atom)]
        is_product = eqn.primitive.name in PRODUCTS
        flops = _flops(eqn) * self._runs if is_product else 0.0
        self.all_products += flops
        mixed = is_product and any(widths.is_narrow(atom) for atom in eqn.invars) and bool(wide)
        cause = self._cause([value for _, value in wide], mixed)
        if cause is None or not all(widths.is_wide(out) or not _is_float(out) for out in eqn.outvars):
            return self._as_it_is(eqn, ins)
        self._count(cause, eqn, [value for _, value in wide], mixed, flops)
        arrays = [
            self._writer.cast(value.array, widths.narrow)
            if widths.is_wide(atom) and not value.is_narrow
            else value.array
            for atom, value in zip(eqn.invars, ins, strict=True)
        ]
        made = self._writer.apply(eqn, arrays, widths.narrow)
        return [
            Value(is_narrow=True, cause=cause, array=array) if widths.is_wide(out) else Value(array=array)
            for out, array in zip(eqn.outvars, made, strict=True)
        ]

    def _cause(self, wide: Sequence[Value], mixed: bool) -> OperandSource | None:
        """What makes the result of an operation wide that would be narrow; None where it is not so."""
        narrow = [value for value in wide if value.is_narrow]
        others = [value for value in wide if not value.is_narrow]
        sources = [value.source for value in others if value.source is not None and value.source.kind in self._follows]
        if not (narrow or mixed) or len(sources) < len(others):
            return None
        inherited = next((value.cause for value in narrow if value.cause is not None), None)
        return inherited or min(sources, key=lambda one: [*SourceKind].index(one.kind), default=None)

    def _count(self, cause: OperandSource, eqn: Any, wide: Sequence[Value], mixed: bool, flops: float) -> None:
        found = self.infected.setdefault(id(cause), InfectedValues(cause, eqn))
        size = sum(math.prod(out.aval.shape) for out in eqn.outvars if self._widths.is_wide(out))
        found.equations.append(eqn)
        found.saved += 2.0 * size * self._widths.saved * self._runs
        found.products += flops
        for value in wide:
            source = value.source
            if source is not None and source is not cause and source.kind in (SourceKind.ARGUMENT, SourceKind.CAPTURED):
                found.others[id(source)] = source

    def _as_it_is(self, eqn: Any, ins: list[Value]) -> list[Value]:
        arrays = self._applied(eqn, ins)
        source = self._source_of(eqn, ins)
        return [
            Value(source=source if self._widths.is_wide(out) else None, array=array)
            for out, array in zip(eqn.outvars, arrays, strict=True)
        ]

    def _source_of(self, eqn: Any, ins: Sequence[Value]) -> OperandSource | None:
        """The source of what an equation makes; None where a narrow value is part of it."""
        floats = [value for atom, value in zip(eqn.invars, ins, strict=True) if _is_float(atom)]
        sources = [value.source for value in floats]
        if any(source is None for source in sources):
            return None
        first = min((one for one in sources if one), key=lambda one: [*SourceKind].index(one.kind), default=None)
        if first is not None and (first.kind is not SourceKind.MADE or eqn.primitive.name in _SHAPE_ONLY):
            return first if first.kind is not SourceKind.LITERAL else OperandSource(SourceKind.MADE, eqn=eqn)
        return OperandSource(SourceKind.MADE, eqn=eqn)

    def _opaque(self, eqn: Any, ins: list[Value]) -> list[Value]:
        """An equation that is left as it is, but for what it runs several times."""
        name = eqn.primitive.name
        if name not in LOOPS | CHECKPOINTS:
            return self._as_it_is(eqn, ins)
        outer, factor = self._runs, float(eqn.params["length"]) if name == "scan" else 1.0
        self._runs *= factor
        sources = _sources_inside(eqn, ins)

        def walk(body: Any) -> Callable[[Sequence[Any]], list[Any]]:
            def inside(arrays: Sequence[Any]) -> list[Any]:
                given = [Value(source=one, array=array) for one, array in zip(sources(body), arrays, strict=True)]
                return [self._hardened(value, self._widths.wide).array for value in self.walk(body, given)]

            return inside

        changed = self._writer.with_bodies(eqn, walk)
        self._runs = outer
        return [Value(array=array) for array in self._applied(changed, ins)]

    def _applied(self, eqn: Any, ins: Sequence[Value]) -> list[Any]:
        given = [self._hardened(value, self._widths.wide).array for value in ins]
        return self._writer.apply(eqn, given, None)

    def _hardened(self, value: Value, dtype: str) -> Value:
        """A value with the dtype that it has."""
        if not value.is_narrow:
            return value
        return replace(value, is_narrow=False, array=self._writer.cast(value.array, dtype))


def _called(eqn: Any, count: int) -> tuple[Any, Sequence[Any]] | None:
    """(the jaxpr that a call runs, its constants); None where it is not one that takes what the call is given."""
    held = [value for value in eqn.params.values() if hasattr(getattr(value, "jaxpr", value), "eqns")]
    if len(held) != 1:
        return None
    inner = getattr(held[0], "jaxpr", held[0])
    consts = list(getattr(held[0], "consts", ()))
    return (inner, consts) if len(inner.invars) == count and len(consts) == len(inner.constvars) else None


def _sources_inside(eqn: Any, ins: Sequence[Value]) -> Callable[[Any], list[OperandSource | None]]:
    """The sources of the inputs of a jaxpr that a loop holds: of those that are not carried, as outside."""
    name, params = eqn.primitive.name, eqn.params
    outside = [value.source for value in ins]
    if name == "scan":
        consts, carried, over = jaxprs.parts_of_scan(params, outside)
        given = [*consts, *[None] * len(carried), *over]
    elif name == "cond":
        given = outside[1:]
    elif name in CHECKPOINTS:
        given = outside
    else:
        given = outside[params["cond_nconsts"] : params["cond_nconsts"] + params["body_nconsts"]]

    def of(body: Any) -> list[OperandSource | None]:
        wanted = len(body.constvars) + len(body.invars)
        return [*given, *[None] * max(0, wanted - len(given))][:wanted]

    return of


def _set(eqn: Any) -> set[str]:
    return {name for name, value in eqn.params.items() if value is not None}


def _is_float(atom: Any) -> bool:
    name = str(getattr(getattr(atom.aval, "dtype", None), "name", ""))
    return name.startswith(("float", "bfloat", "complex"))


def _flops(eqn: Any) -> float:
    """Multiply-adds of a product, times two; of a convolution, with its padding."""
    out = float(math.prod(eqn.outvars[0].aval.shape))
    if eqn.primitive.name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        return 2.0 * out * float(math.prod(eqn.invars[0].aval.shape[axis] for axis in contracted))
    numbers, kernel = eqn.params["dimension_numbers"], eqn.invars[1].aval.shape
    return 2.0 * out * float(math.prod(kernel)) / max(1, int(kernel[numbers.rhs_spec[0]]))
