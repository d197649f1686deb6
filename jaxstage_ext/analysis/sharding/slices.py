"""Which device holds which slice of a value, for any rank and any mesh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jaxstage_ext.analysis.sharding.mesh import (
    Axis,
    BadSharding,
    Mesh,
    axes_along,
    check_number,
    digits_of,
    key_of,
    places_of,
    size_of,
)
from jaxstage_ext.ir.wire.protowire import Longs

REPLICATED, MANUAL, UNREDUCED, UNKNOWN = "replicated", "manual", "unreduced", "unknown"
"""What devices with the same slice hold: the same values; a value each, inside `shard_map`; partial sums that are still
to be added up; unknown."""


@dataclass(frozen=True, eq=False)
class Sharding:
    """How a value is distributed over devices, in any spelling."""

    tiles: tuple[int, ...]
    """Number of shards along each dimension."""
    holders: Longs
    """The devices that hold each shard, an array of shape (*tiles, devices per shard)."""
    rest: tuple[tuple[str, int, tuple[Axis, ...]], ...] = ()
    """How the devices of a shard share it: (kind, number of devices, axis names), slowest first. The numbers multiply
    to the last size of `holders`."""
    axes: tuple[tuple[Axis, ...], ...] | None = None
    """The mesh axes of each dimension, slowest first; None where they have no names."""
    mesh: Mesh | None = None
    """None without one."""
    text: str = ""
    """Its original spelling."""
    problem: str = ""
    """Why the sharding is unknown; "" where it is known."""
    only: int | None = None
    """JAX's id of the only device; None for several devices, or where its position is its id."""
    memory: str = ""
    """JAX's name of the memory that holds it, `pinned_host`; "" for the device's own."""

    @property
    def is_known(self) -> bool:
        return not self.problem

    @property
    def devices(self) -> int:
        return int(self.holders.size)

    def shared(self, kind: str) -> int:
        """The number of devices that share a shard in this way."""
        return math.prod(count for way, count, _ in self.rest if way == kind)

    def named(self, kind: str) -> tuple[Axis, ...]:
        return tuple(axis for way, _, axes in self.rest if way == kind for axis in axes)

    @property
    def spec(self) -> str:
        """The PartitionSpec where the axes have names: `P('data', None)`; else the original spelling."""
        if self.problem:
            return f"unknown: {self.text or self.problem}"
        if self.mesh is None and self.devices == 1:
            return f"device {self.holders.item() if self.only is None else self.only}"
        if self.axes is None:
            return self.text or self._counted
        parts = [_spelled(axes) for axes in self.axes]
        parts += [
            f"{kind}={{{', '.join(repr(str(axis)) for axis in self.named(kind))}}}"
            for kind in (UNREDUCED, MANUAL)
            if self.named(kind)
        ]
        return f"P({', '.join(parts)})"

    def without(self, axes: frozenset[str]) -> Sharding:
        """The same, but not sharded along some mesh axes; only its spec is true. Itself where axes have no names."""
        if self.axes is None:
            return self
        return replace(self, axes=tuple(tuple(axis for axis in dim if axis.name not in axes) for dim in self.axes))

    @property
    def shown(self) -> str:
        """`P('data', None), pinned_host`: the spec, and the memory where it is not the device's own."""
        return f"{self.spec}, {self.memory}" if self.memory else self.spec

    @property
    def _counted(self) -> str:
        parts = f"{'x'.join(map(str, self.tiles))} shards" if math.prod(self.tiles) > 1 else ""
        rest = [f"{kind} over {count}" for kind, count, _ in self.rest if count > 1]
        return ", ".join(([parts] if parts else []) + rest) or "one shard"

    def __str__(self) -> str:
        return self.spec


def _spelled(axes: tuple[Axis, ...]) -> str:
    names = [repr(str(axis)) for axis in axes]
    return "None" if not names else names[0] if len(names) == 1 else f"({', '.join(names)})"


def unknown(text: str, problem: str) -> Sharding:
    """A sharding that cannot be read."""
    return Sharding((), np.zeros(1, np.int64), text=text, problem=problem)


def replicated(devices: int, rank: int, text: str = "") -> Sharding:
    """A value that is replicated on a number of devices."""
    return shared_by_all(REPLICATED, devices, rank, text)


def shared_by_all(kind: str, devices: int, rank: int, text: str = "") -> Sharding:
    """A value that is not cut and that all devices share in one way."""
    holders = np.arange(check_number(devices)).reshape((1,) * rank + (devices,))
    return Sharding(
        (1,) * rank, holders, ((kind, devices, ()),), None if kind != REPLICATED else ((),) * rank, text=text
    )


def tiled(dims: Sequence[int], order: Longs, kinds: Sequence[str], text: str = "") -> Sharding:
    """Devices in an order, arranged as an array of `dims`, whose last dimensions are shared as `kinds` say.

    Raises BadSharding.
    """
    if math.prod(dims) != len(order) or len(kinds) > len(dims):
        raise BadSharding(f"{len(order)} devices do not fill {'x'.join(map(str, dims))} parts")
    if len(np.unique(order)) != len(order):
        raise BadSharding("a device occurs twice")
    rank = len(dims) - len(kinds)
    rest = tuple((kind, int(count), ()) for kind, count in zip(kinds, dims[rank:], strict=True))
    return Sharding(tuple(map(int, dims[:rank])), order.reshape(*dims[:rank], -1), rest, text=text)


def on_one_device(device: int, rank: int, text: str = "") -> Sharding:
    """A value on one device."""
    return Sharding((1,) * rank, np.full((1,) * rank + (1,), device, np.int64), (), ((),) * rank, None, text)


def on_mesh(
    mesh: Mesh,
    dims: Sequence[Sequence[Axis]],
    unreduced: Sequence[Axis] = (),
    manual: Sequence[Axis] = (),
    text: str = "",
) -> Sharding:
    """A sharding by the mesh axes of each dimension; the other axes replicate. Raises BadSharding."""
    used = [axis for dim in dims for axis in dim] + [*unreduced, *manual]
    digits, array = digits_of(mesh, used)
    place = {key_of(mesh, axis): i for i, axis in enumerate(digits)}
    order = [place[key_of(mesh, axis)] for axis in used]
    if len(set(order)) != len(order):
        raise BadSharding(f"an axis is used twice in {text or used}")
    left = [i for i in range(len(digits)) if i not in order]
    holders = array.transpose(*order, *left)
    tiles = tuple(math.prod(size_of(mesh, axis) for axis in dim) for dim in dims)
    rest = [
        (kind, math.prod(size_of(mesh, axis) for axis in axes), tuple(axes))
        for kind, axes in ((UNREDUCED, unreduced), (MANUAL, manual), (REPLICATED, [digits[i] for i in left]))
        if axes
    ]
    return Sharding(tiles, holders.reshape(*tiles, -1), tuple(rest), tuple(map(tuple, dims)), mesh, text)


def with_names(sharding: Sharding, mesh: Mesh) -> Sharding:
    """The sharding with the axis names of a mesh where its shards follow the axes; unchanged where not."""
    if sharding.problem or sharding.axes is not None or mesh.size != sharding.devices:
        return sharding
    where = places_of(mesh)
    dims = []
    for dim, tiles in enumerate(sharding.tiles):
        line = np.moveaxis(sharding.holders, dim, 0).reshape(tiles, -1)[:, 0]
        axes = axes_along(where[line], mesh)
        if axes is None:
            return sharding
        dims.append(axes)
    rest = _rest_axes(sharding, where, mesh)
    try:
        made = on_mesh(mesh, dims, rest[UNREDUCED], rest[MANUAL], sharding.text)
    except BadSharding:
        return sharding
    same = made.tiles == sharding.tiles and _sets(made) == _sets(sharding)
    return made if same else sharding


def _rest_axes(sharding: Sharding, where: Longs, mesh: Mesh) -> dict[str, tuple[Axis, ...]]:
    first = sharding.holders.reshape(-1, sharding.holders.shape[-1])[0]
    counts = [count for _, count, _ in sharding.rest] or [1]
    block = first.reshape(counts) if math.prod(counts) == len(first) else first.reshape(-1)
    axes_of_kind: dict[str, tuple[Axis, ...]] = {UNREDUCED: (), MANUAL: ()}
    for i, (kind, count, _) in enumerate(sharding.rest):
        if kind in axes_of_kind and block.ndim == len(sharding.rest):
            line = np.moveaxis(block, i, 0).reshape(count, -1)[:, 0]
            axes_of_kind[kind] = axes_along(where[line], mesh) or ()
    return axes_of_kind


def _sets(sharding: Sharding) -> list[frozenset[int]]:
    return [frozenset(part.tolist()) for part in sharding.holders.reshape(-1, sharding.holders.shape[-1])]
