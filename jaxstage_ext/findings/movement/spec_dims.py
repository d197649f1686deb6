"""PartitionSpecs as the mesh axes of each dimension, and back."""

from __future__ import annotations

from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

from jaxstage_ext.analysis.sharding.resharding_steps import Dims
from jaxstage_ext.analysis.sharding.slices import Sharding


def of_sharding(sharding: Any, rank: int) -> Dims | None:
    """Those of a NamedSharding; None for another sharding, or where a dimension is left to XLA."""
    if not isinstance(sharding, NamedSharding) or PartitionSpec.UNCONSTRAINED in tuple(sharding.spec):
        return None
    parts = [part if isinstance(part, tuple) else () if part is None else (part,) for part in sharding.spec]
    return tuple(tuple(map(str, part)) for part in [*parts, *[()] * (rank - len(parts))])


def of_slices(sharding: Sharding) -> Dims | None:
    """Those of a sharding in the compiler's form; None where axes have no names, or parts of them are used."""
    if sharding.axes is None or any(axis.size is not None for axes in sharding.axes for axis in axes):
        return None
    return tuple(tuple(axis.name for axis in axes) for axes in sharding.axes)


def spec(dims: Dims) -> PartitionSpec:
    """The PartitionSpec."""
    parts = (None if not axes else axes[0] if len(axes) == 1 else axes for axes in dims)
    return PartitionSpec(*parts)  # type: ignore[no-untyped-call, unused-ignore]


def text(dims: Dims) -> str:
    """`P('data', None)`, as the Collectives tab writes it."""
    parts = (repr(axes[0]) if len(axes) == 1 else repr(axes) if axes else "None" for axes in dims)
    return f"P({', '.join(parts)})"
