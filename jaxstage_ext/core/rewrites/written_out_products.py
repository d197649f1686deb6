"""Matrix products that are written as a product of broadcast arrays and a sum, and the same with `dot_general`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax

from jaxstage_ext.core.equation_runs import equation_runs
from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rewritten import EquationWriter, traced_anew
from jaxstage_ext.report.unavailable import Unavailable

_LEAST_SIDE = 8
_WRITER = EquationWriter()


class WrittenOutProduct(NamedTuple):
    """One such product: the dimensions of the array that is summed."""

    total: Any
    """The equation that sums."""
    factors: Any
    """The one that multiplies."""
    contracted: tuple[int, ...]
    batch: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    """Those of one operand alone."""
    flops: float
    """Over all runs."""


def written_out_products(jaxpr: Any) -> Iterator[WrittenOutProduct]:
    """Those of a jaxpr and of what it runs."""
    runs = {id(eqn): times for eqn, (times, _) in equation_runs(jaxpr) if eqn.primitive.name == "reduce_sum"}
    if not runs:
        return
    for one in jaxprs.all_jaxprs(jaxpr):
        made = {out: eqn for eqn in one.eqns if eqn.primitive.name == "mul" for out in eqn.outvars}
        for eqn in one.eqns:
            factors = made.get(eqn.invars[0]) if eqn.primitive.name == "reduce_sum" else None
            if factors is not None and (found := _product(eqn, factors, runs.get(id(eqn), 1))) is not None:
                yield found


def _product(total: Any, factors: Any, runs: int) -> WrittenOutProduct | None:
    shapes = [tuple(getattr(atom.aval, "shape", ())) for atom in factors.invars]
    whole = tuple(factors.outvars[0].aval.shape)
    if any(len(shape) != len(whole) for shape in shapes) or any(map(jaxprs.is_literal, factors.invars)):
        return None
    if str(factors.outvars[0].aval.dtype) not in ("float32", "bfloat16", "float16"):
        return None
    axes = tuple(map(int, total.params["axes"]))
    both = [at for at, size in enumerate(whole) if shapes[0][at] == shapes[1][at] == size]
    alone = [at for at in range(len(whole)) if at not in both]
    left, right = (tuple(at for at in alone if shape[at] == whole[at]) for shape in shapes)
    contracted = tuple(at for at in axes if at in both)
    batch = tuple(at for at in both if at not in axes)
    if len(contracted) < len(axes) or math.prod(whole[at] for at in contracted) < _LEAST_SIDE:
        return None
    if any(math.prod(whole[at] for at in side) < _LEAST_SIDE for side in (left, right)):
        return None
    return WrittenOutProduct(total, factors, contracted, batch, left, right, 2.0 * math.prod(whole) * runs)


def with_dots(jaxpr: Any) -> Any:
    """The jaxpr with these as matrix products. Raises Unavailable where there are none."""
    found = {id(one.total): one for one in written_out_products(jaxpr)}
    if not found:
        raise Unavailable("no sum of a product of broadcast arrays is a matrix product")
    return _rewritten(jaxpr, found)


def _rewritten(jaxpr: Any, found: dict[int, WrittenOutProduct]) -> Any:
    if found.keys().isdisjoint(id(eqn) for one in jaxprs.all_jaxprs(jaxpr) for eqn in one.eqns):
        return jaxpr

    def results(eqn: Any, read: Callable[[Any], Any]) -> list[Any]:
        if (product := found.get(id(eqn))) is not None:
            return [_dot(product, *map(read, product.factors.invars))]
        changed = rematerialized.with_inner(eqn, lambda body: _rewritten(body, found))
        return _WRITER.apply(changed, list(map(read, eqn.invars)), None)

    return traced_anew(jaxpr, lambda arrays: jaxprs.evaluated(jaxpr, arrays, results))


def _dot(product: WrittenOutProduct, left: Any, right: Any) -> Any:
    """The product as one `dot_general`, its dimensions in the order of the sum's result."""
    given = [sorted((*product.contracted, *product.batch, *own)) for own in (product.left, product.right)]
    first, second = (
        jax.lax.squeeze(array, [at for at in range(array.ndim) if at not in kept])
        for array, kept in zip((left, right), given, strict=True)
    )
    contracted, batch = (
        tuple(tuple(kept.index(at) for at in dims) for kept in given) for dims in (product.contracted, product.batch)
    )
    out = product.total.outvars[0].aval
    numbers: Any = (contracted, batch)
    made = jax.lax.dot_general(first, second, numbers, preferred_element_type=out.dtype)
    order = [*product.batch, *product.left, *product.right]
    return jax.lax.reshape(jax.lax.transpose(made, [order.index(at) for at in sorted(order)]), out.shape)
