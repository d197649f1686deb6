"""How long collectives over the axes of a mesh take, by the product's own formulas, which are linear in the payload."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from jaxstage_ext.analysis.collectives.device_groups import Groups
from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.slices import on_mesh
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind

MeshSizes = tuple[tuple[str, int], ...]
"""Axis names and sizes, the slowest first."""
LinksOf = Callable[[tuple[int, ...]], DeviceLinks]
"""The links of a device, for the axis sizes of a mesh, which decide where on a torus each device is."""
_PART = re.compile(r"(.*):\((\d+)\)(\d+)")
Rate = tuple[float | None, str]
"""(seconds per byte of payload, ""), or (None, why it is unknown)."""


class LinkTimes:
    """The seconds per byte of payload of each kind of collective over each set of axes; each is computed once."""

    def __init__(self, links_of: LinksOf) -> None:
        self._links_of = links_of
        self._meshes: dict[MeshSizes, MeshLinks] = {}

    def seconds_per_byte(self, mesh: MeshSizes, kind: CollectiveKind, axes: tuple[str, ...]) -> Rate:
        """The rate of a collective, or why it is unknown."""
        if mesh not in self._meshes:
            self._meshes[mesh] = MeshLinks(mesh, self._links_of(tuple(size for _, size in mesh)))
        return self._meshes[mesh].rate(kind, axes)


class MeshLinks:
    """The links of one mesh."""

    def __init__(self, sizes: MeshSizes, links: DeviceLinks) -> None:
        self.mesh = Mesh(tuple(name for name, _ in sizes), tuple(size for _, size in sizes))
        self._links = links
        self._rates: dict[tuple[CollectiveKind, tuple[str, ...]], Rate] = {}
        self._groups: dict[tuple[str, ...], Sequence[tuple[int, ...]]] = {}

    def rate(self, kind: CollectiveKind, axes: tuple[str, ...]) -> Rate:
        """Seconds per byte of payload."""
        key = kind, axes
        if key not in self._rates:
            self._rates[key] = self._links.seconds(kind.value, 1.0, self._members(kind, axes))
        return self._rates[key]

    def _members(self, kind: CollectiveKind, axes: tuple[str, ...]) -> Groups:
        if axes not in self._groups:
            sharding = on_mesh(self.mesh, [[axis_of(axis) for axis in axes]])
            self._groups[axes] = [tuple(group) for group in sharding.holders.reshape(sharding.tiles[0], -1).T.tolist()]
        groups = self._groups[axes]
        if kind is not CollectiveKind.PERMUTE:
            return Groups(tuple(groups))
        pairs = tuple((group[n], group[(n + 1) % len(group)]) for group in groups for n in range(len(group)))
        return Groups(pairs, is_pairs=True)

    @cached_property
    def devices(self) -> int:
        """How many devices the mesh has."""
        return self.mesh.size


def axis_of(text: str) -> Axis:
    """The axis of `model`, or the part of one of `model:(2)4`."""
    part = _PART.fullmatch(text)
    return Axis(text) if part is None else Axis(part[1], int(part[2]), int(part[3]))
