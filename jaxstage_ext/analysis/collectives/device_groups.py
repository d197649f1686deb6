"""The devices that take part in a collective, in every spelling of XLA, and the mesh axes that they span.

Modes: CollectiveOpGroupMode in xla/service/collective_ops_utils.h of openxla/xla.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jaxstage_ext.analysis.sharding.from_proto import axes_of, mesh_of
from jaxstage_ext.analysis.sharding.from_text import iota
from jaxstage_ext.analysis.sharding.mesh import Axis, BadSharding, Mesh, axes_along, check_number, places_of
from jaxstage_ext.analysis.sharding.slices import on_mesh

_BY_PARTITION = ("all-to-all", "ragged-all-to-all", "collective-broadcast")
SHOWN = 4
"""Most groups listed in the text form."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Devices that communicate, as positions in the device assignment."""

    members: tuple[tuple[int, ...], ...] = field(repr=False)
    """Of each group; for a permutation the (source, target) pairs."""
    is_pairs: bool = False
    axes: tuple[Axis, ...] | None = None
    """Mesh axes that a group spans, slowest first; None where unknown."""
    problem: str = ""
    """Why the groups are unknown; "" where they are known."""

    @property
    def size(self) -> int | None:
        """Devices of the largest group, or of a whole permutation; None where unknown."""
        if self.problem:
            return None
        if self.is_pairs:
            return len({device for pair in self.members for device in pair})
        return max(map(len, self.members), default=0)

    @property
    def senders(self) -> frozenset[int]:
        """The devices that send: the sources of a permutation, else all of a group; none where that is unknown."""
        if self.is_pairs:
            return frozenset(source for source, target in self.members if source != target)
        return frozenset(device for group in self.members if len(group) > 1 for device in group)

    def __str__(self) -> str:
        if self.problem:
            return f"unknown: {self.problem}"
        shown = [("→" if self.is_pairs else ",").join(map(str, group[:16])) for group in self.members[:SHOWN]]
        shown = [f"{text},…" if len(group) > 16 else text for text, group in zip(shown, self.members, strict=False)]
        more = f" and {len(self.members) - SHOWN} more" if len(self.members) > SHOWN else ""
        return " ".join(f"{{{text}}}" for text in shown) + more


def read(message: Any, kind: str, devices: int) -> Groups:
    """The groups of an instruction, from a `hlo_sharding.Collective`; `devices` is how many the program has."""
    try:
        if kind in ("collective-permute", "send", "recv"):
            pairs = tuple((pair.source, pair.target) for pair in message.source_target_pairs)
            return Groups(pairs, True) if pairs else Groups((), True, problem="it has no pairs of source and target")
        return Groups(_extended(_listed(message), message, kind, devices))
    except (BadSharding, ValueError, IndexError) as problem:
        return Groups((), problem=str(problem))


def _listed(message: Any) -> list[tuple[int, ...]]:
    if message.HasField("mesh_axes_replica_group_list"):
        return _of_axes(message.mesh_axes_replica_group_list)
    if message.HasField("iota_collective_device_list"):
        return _of_iota(message.iota_collective_device_list)
    held = message.collective_device_list if message.HasField("collective_device_list") else message
    if held is not message and held.HasField("iota_replica_group_list"):
        return _of_iota(held.iota_replica_group_list)
    return [tuple(group.replica_ids) for group in held.replica_groups]


def _of_axes(message: Any) -> list[tuple[int, ...]]:
    mesh = mesh_of(message.mesh)
    sharding = on_mesh(mesh, [axes_of(message.axes, mesh)])
    return [tuple(group) for group in sharding.holders.T.tolist()]


def _of_iota(message: Any) -> list[tuple[int, ...]]:
    order = iota(list(message.iota_reshape_dims), list(message.iota_transpose_perm))
    return [tuple(group) for group in order.reshape(message.num_replica_groups, message.num_devices_per_group).tolist()]


def _extended(groups: list[tuple[int, ...]], message: Any, kind: str, devices: int) -> tuple[tuple[int, ...], ...]:
    """The groups over all devices, where each of their replicas has several partitions."""
    check_number(devices)
    if not groups:
        return (tuple(range(devices)),)
    across = message.channel_id > 0 and not message.use_global_device_ids and kind not in _BY_PARTITION
    replicas = len({replica for group in groups for replica in group})
    if not across or devices % replicas or devices == replicas:
        return tuple(groups)
    partitions = devices // replicas
    return tuple(
        tuple(replica * partitions + place for replica in group for place in range(partitions)) for group in groups
    )


def named(groups: Groups, meshes: Sequence[Mesh]) -> Groups:
    """The groups with the axes of the first mesh whose axes they span."""
    for mesh in meshes:
        axes = None if groups.problem else _axes(groups, mesh)
        if axes is not None:
            return replace(groups, axes=axes)
    return groups


def _axes(groups: Groups, mesh: Mesh) -> tuple[Axis, ...] | None:
    where = places_of(mesh)
    devices = np.array([device for group in groups.members for device in group], np.int64)
    if not len(devices) or max(devices.tolist()) >= len(where):
        return None
    if groups.is_pairs:
        moved = (where[devices[::2]] != where[devices[1::2]]).any(0)
        return tuple(Axis(name) for name, moves in zip(mesh.names, moved.tolist(), strict=True) if moves)
    if len({len(group) for group in groups.members}) > 1 or len(devices) != mesh.size:
        return None
    axes = axes_along(where[list(groups.members[0])], mesh)
    if axes is None:
        return None
    expected = on_mesh(mesh, [axes]).holders.T
    return axes if {frozenset(g) for g in expected.tolist()} == {frozenset(g) for g in groups.members} else None


def spans(groups: Groups, coords: Sequence[Sequence[int]]) -> int | None:
    """The number of torus axes along which a group's devices differ; `coords` of each device; None where unknown."""
    if groups.problem or not groups.members:
        return None
    try:
        return max(
            sum(len(set(values)) > 1 for values in zip(*(coords[device] for device in group), strict=True))
            for group in groups.members
        )
    except (IndexError, ValueError):
        return None


def within_one_host(groups: Groups, hosts: Sequence[int | None]) -> bool | None:
    """Whether every group is within one host, by the host of each device; None where unknown."""
    try:
        hosts_of_groups = [{hosts[device] for device in group} for group in groups.members]
    except IndexError:
        return None
    if groups.problem or any(None in group for group in hosts_of_groups):
        return None
    return all(len(group) <= 1 for group in hosts_of_groups)
