"""The named shardings of a traced call's arguments, and the same call with others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec


def named(traced: Any) -> list[Any]:
    """Of each argument its NamedSharding, by `jax.jit`'s options or the array's own; None of any other.

    All are None of a call of which only the jaxpr is kept, as of one out of the compile log.
    """
    if not isinstance(traced, jax.stages.Traced):
        return [None] * len(traced.jaxpr.jaxpr.invars)
    count = len(traced._consts)
    given = list(traced._params["in_shardings"])[count:]
    own = [getattr(each, "sharding", None) for each in traced._meta_tys_flat[count:]]
    found = []
    for option, sharding in zip(given, own, strict=True):
        chosen = option if isinstance(option, NamedSharding) else sharding
        found.append(chosen if isinstance(chosen, NamedSharding) and not chosen.mesh.empty else None)
    return found


def asked(traced: Any) -> list[Any]:
    """Of each result the NamedSharding that `jax.jit`'s options ask for; None of any other, and where `named` is."""
    if not isinstance(traced, jax.stages.Traced):
        return [None] * len(traced.jaxpr.jaxpr.outvars)
    return [one if isinstance(one, NamedSharding) else None for one in traced._params["out_shardings"]]


def is_automatic(sharding: Any) -> bool:
    """Whether the partitioner propagates all axes of its mesh, so that types of values do not hold them."""
    kinds = getattr(sharding.mesh, "axis_types", ())
    return all(kind is jax.sharding.AxisType.Auto for kind in kinds)


def is_explicit(traced: Any) -> bool:
    """Whether types of values hold shardings: an argument's mesh, or that around the call, has an explicit axis."""
    around = getattr(traced, "_params", {}).get("ctx_mesh")
    kinds = () if around is None or around.empty else around.axis_types
    return jax.sharding.AxisType.Explicit in kinds or any(
        each is not None and not is_automatic(each) for each in named(traced)
    )


def with_shardings(traced: Any, mesh: Any, ins: Mapping[int, PartitionSpec], outs: Mapping[int, PartitionSpec]) -> Any:
    """The trace of the same call with these specs of some arguments and results, by number."""
    count = len(traced._consts)
    made = copy.copy(traced)
    given, metas = list(traced._params["in_shardings"]), list(traced._meta_tys_flat)
    results = list(traced._params["out_shardings"])
    for number, spec in ins.items():
        sharding = NamedSharding(mesh, spec)
        given[count + number] = sharding
        metas[count + number] = metas[count + number].replace(sharding=sharding)
    for number, spec in outs.items():
        results[number] = NamedSharding(mesh, spec)
    made._params = traced._params | {"in_shardings": tuple(given), "out_shardings": tuple(results)}
    made._meta_tys_flat = metas
    made._lojax = None
    return made
