"""A call with some of its arguments in a narrower dtype."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.report.unavailable import Unavailable


def narrowed(call: Call, numbers: Collection[int], dtype: str, count: int) -> Call:
    """The call with the arrays of these numbers, of the `count` that JAX was given, as types of another dtype.

    Raises Unavailable where it is not known which of its arguments these are.
    """
    leaves, tree = jax.tree.flatten((call.args, dict(call.kwargs)))
    if len(leaves) != count:
        raise Unavailable("it is not known which arguments of the call JAX was given")
    args, kwargs = jax.tree.unflatten(
        tree, [_narrow(leaf, dtype) if at in numbers else leaf for at, leaf in enumerate(leaves)]
    )
    return replace(call, args=args, kwargs=kwargs)


def _narrow(leaf: Any, dtype: str) -> Any:
    sharding = getattr(leaf, "sharding", None)
    kept = sharding if isinstance(sharding, jax.sharding.NamedSharding) else None
    return jax.ShapeDtypeStruct(jax.numpy.shape(leaf), dtype, sharding=kept)  # type: ignore[no-untyped-call]
