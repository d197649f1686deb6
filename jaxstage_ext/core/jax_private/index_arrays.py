"""Gathers and products with one-hot arrays in a jaxpr, and the jaxpr with gathers for the products."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.jax_private.jaxpr_edits import inlined, traced_equations
from jaxstage_ext.core.jax_private.rematerialized import renamed, with_equations, with_inner

_INDEX_BYTES = 4


@dataclass(frozen=True)
class IndexArray:
    """An array of indices, or of ones at indices, that an equation reads."""

    eqn: Any
    """The gather, or the product."""
    elements: int
    """Of the index array, as XLA writes it out."""
    size: int
    """Bytes of it."""
    data: int
    """Bytes of what it is indexed into, or of the result where that is more."""
    is_one_hot: bool


def found(jaxpr: Any) -> Iterator[IndexArray]:
    """Those of a jaxpr and of all that its equations hold."""
    for each in jaxprs.all_jaxprs(jaxpr):
        flat = inlined(each)
        makers = jaxprs.makers(flat)
        for eqn in flat.eqns:
            if eqn.primitive.name == "gather":
                yield _of_gather(eqn)
            elif (product := _product(eqn, makers)) is not None:
                hot, other = product.hot.aval, product.other.aval
                data = max(_bytes(other), _bytes(eqn.outvars[0].aval))
                yield IndexArray(eqn, hot.size, _bytes(hot), data, True)


def gathering(jaxpr: Any) -> Any:
    """The jaxpr with rows taken by their indices, and added up at them, in place of products with one-hot arrays."""
    flat = inlined(jaxpr)
    makers = jaxprs.makers(flat)
    products = {id(eqn): product for eqn in flat.eqns if (product := _product(eqn, makers)) is not None}
    if not products:
        eqns = [with_inner(eqn, gathering) for eqn in jaxpr.eqns]
        same = all(new is old for new, old in zip(eqns, jaxpr.eqns, strict=True))
        return jaxpr if same else with_equations(jaxpr, eqns, {})
    names: dict[Any, Any] = {}
    eqns = []
    for eqn in flat.eqns:
        if (product := products.get(id(eqn))) is None:
            eqns.append(with_inner(renamed(eqn, names), gathering))
            continue
        given = [names.get(var, var) for var in (product.index, product.other)]
        made, [out] = traced_equations(product.function(eqn.outvars[0].aval.dtype), given, eqn)
        eqns += made
        names[eqn.outvars[0]] = out
    return with_equations(flat, eqns, names)


@dataclass(frozen=True)
class _Product:
    """A product of a one-hot array with rows: it takes rows, or adds rows up."""

    hot: Any
    index: Any
    other: Any
    contracted: tuple[int, ...]
    """Dimensions of the other operand."""
    takes: bool
    is_left: bool

    def function(self, dtype: Any) -> Any:
        """What computes the same of the indices and the rows."""
        places, batch = tuple(range(len(self.contracted))), self.index.aval.ndim

        def computed(index: Any, other: Any) -> Any:
            rows = jnp.moveaxis(other, self.contracted, places).astype(dtype)
            if self.takes:
                made, own = jnp.take(rows, index, axis=0, mode="fill", fill_value=0), batch
            else:
                zeros = jnp.zeros((self.hot.aval.shape[-1], *rows.shape[batch:]), dtype)
                made, own = zeros.at[index].add(rows, mode="drop"), 1
            return [made if self.is_left else jnp.moveaxis(made, range(own), range(made.ndim - own, made.ndim))]

        return computed


def _product(eqn: Any, makers: dict[Any, Any]) -> _Product | None:
    if eqn.primitive.name != "dot_general" or len(jaxprs.variables(eqn.invars)) < 2:
        return None
    (left, right), (left_batch, right_batch) = eqn.params["dimension_numbers"]
    sides = (eqn.invars[0], left, eqn.invars[1], right), (eqn.invars[1], right, eqn.invars[0], left)
    for at, (hot, contracted, other, others) in enumerate(sides):
        index = None if left_batch or right_batch else _index_of(hot, makers)
        if index is None:
            continue
        rest = tuple(range(hot.aval.ndim - 1))
        if tuple(contracted) in ((len(rest),), rest):
            return _Product(hot, index, other, tuple(map(int, others)), tuple(contracted) != rest, at == 0)
    return None


def _index_of(var: Any, makers: dict[Any, Any]) -> Any:
    """The indices of a one-hot array with its classes last, `convert(eq(broadcast(indices), iota))`; else None."""
    eqn = makers.get(var)
    while eqn is not None and eqn.primitive.name == "convert_element_type":
        eqn = makers.get(eqn.invars[0])
    if eqn is None or eqn.primitive.name != "eq" or len(eqn.outvars[0].aval.shape) < 2:
        return None
    for index, counted in (eqn.invars, eqn.invars[::-1]):
        count, wide = makers.get(counted), makers.get(index)
        if count is None or count.primitive.name != "iota" or wide is None:
            continue
        is_wide = wide.primitive.name in ("broadcast_in_dim", "reshape")
        if is_wide and count.params["dimension"] == len(counted.aval.shape) - 1:
            inner: Any = wide.invars[0]
            if jaxprs.variables([inner]) and inner.aval.shape == eqn.outvars[0].aval.shape[:-1]:
                return inner
    return None


def _of_gather(eqn: Any) -> IndexArray:
    """XLA writes the indices of the dimensions of a batch out beside those that the program gives."""
    numbers, given = eqn.params["dimension_numbers"], eqn.invars[1].aval
    parts = len(numbers.start_index_map) + len(numbers.operand_batching_dims)
    elements = math.prod(given.shape[:-1]) * parts
    data = max(_bytes(eqn.invars[0].aval), _bytes(eqn.outvars[0].aval))
    return IndexArray(eqn, elements, elements * _INDEX_BYTES, data, False)


def _bytes(aval: Any) -> int:
    return int(aval.size) * int(getattr(aval.dtype, "itemsize", 0))
