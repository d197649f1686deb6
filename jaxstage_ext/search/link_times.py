"""How long collectives over the axes of a mesh take, by the product's own formulas, which are linear in the payload."""

from __future__ import annotations

from collections.abc import Callable

from jaxstage_ext.analysis.collectives.axis_groups import axis_groups
from jaxstage_ext.analysis.collectives.device_groups import Groups
from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind

MeshSizes = tuple[tuple[str, int], ...]
"""Axis names and sizes, the slowest first."""
LinksOf = Callable[[tuple[int, ...]], DeviceLinks]
"""The links of a device, for the axis sizes of a mesh, which decide where on a torus each device is."""
LinkRate = tuple[float | None, str]
"""(seconds per byte of payload, ""), or (None, why it is unknown)."""
_A_MEGABYTE = 1e6


class LinkTimes:
    """The seconds per byte of payload of each kind of collective over each set of axes; each is computed once."""

    def __init__(self, links_of: LinksOf) -> None:
        self._links_of = links_of
        self._links: dict[tuple[int, ...], DeviceLinks] = {}
        self._rates: dict[tuple[MeshSizes, CollectiveKind, tuple[str, ...]], LinkRate] = {}

    def rate(self, mesh: MeshSizes, kind: CollectiveKind, axes: tuple[str, ...]) -> LinkRate:
        """The rate of a collective, or why it is unknown."""
        key = mesh, kind, axes
        if key not in self._rates:
            self._rates[key] = self._computed(*key)
        return self._rates[key]

    def _computed(self, mesh: MeshSizes, kind: CollectiveKind, axes: tuple[str, ...]) -> LinkRate:
        sizes = tuple(size for _, size in mesh)
        if sizes not in self._links:
            self._links[sizes] = self._links_of(sizes)
        groups = axis_groups(dict(mesh), axes)
        if kind is CollectiveKind.PERMUTE:
            groups = _neighbours(groups)
        seconds, why = self._links[sizes].seconds(kind.value, _A_MEGABYTE, groups)
        return (None, why) if seconds is None else (seconds / _A_MEGABYTE, "")


def _neighbours(groups: Groups) -> Groups:
    """Each device sends to the next of its group."""
    pairs = ((group[n], group[(n + 1) % len(group)]) for group in groups.members for n in range(len(group)))
    return Groups(tuple(pairs), is_pairs=True)
