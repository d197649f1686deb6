"""Sizes for the symbolic axes of `jax.export.symbolic_shape`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jax

from jaxstage_ext.core.jax_private import given_objects
from jaxstage_ext.report.deliberate_error import DeliberateError


class SymbolicAxis(DeliberateError, ValueError):
    """An axis is symbolic, and was given no size."""


def sized(aval: Any, sizes: Mapping[str, int], sharding: Any = None) -> jax.ShapeDtypeStruct:
    """The type with its symbolic axes at these sizes. Raises SymbolicAxis where one has none."""
    axes = names([aval])
    if unknown := axes - sizes.keys():
        raise SymbolicAxis(missing(sorted(unknown)))
    known = {axis: sizes[axis] for axis in axes}
    shape = tuple(given_objects.evaluated(size, known) for size in aval.shape)
    return jax.ShapeDtypeStruct(shape, aval.dtype, sharding=sharding)  # type: ignore[no-untyped-call]


def names(avals: Iterable[Any]) -> set[str]:
    """The names of the symbolic sizes in these types."""
    return {name for aval in avals for size in getattr(aval, "shape", ()) for name in given_objects.symbols(size)}


def missing(axes: list[str]) -> str:
    """`axis b is symbolic: give a size with --dim b=8`, which the magics have; `load` has `dims`."""
    examples = " ".join(f"--dim {axis}=8" for axis in axes)
    if len(axes) == 1:
        return f"axis {axes[0]} is symbolic: give a size with {examples}"
    return f"axes {', '.join(axes)} are symbolic: give sizes with {examples}"


def with_sizes(tree: Any, sizes: Mapping[str, int]) -> Any:
    """A pytree whose symbolic axes have these sizes, as far as they are there."""
    return jax.tree.map(lambda leaf: _sized_if_known(leaf, sizes), tree)


def _sized_if_known(leaf: Any, sizes: Mapping[str, int]) -> Any:
    axes = names([leaf]) if isinstance(leaf, jax.ShapeDtypeStruct) else set()
    return sized(leaf, sizes) if axes and axes <= sizes.keys() else leaf
