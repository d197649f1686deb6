"""How many devices exchange data in each group of a collective, in every spelling of XLA."""

from __future__ import annotations

import math
from typing import Any

from google.protobuf.message import DecodeError

from jaxstage_ext.ir.hlo.sharding_field import Collective


def group_sizes(message: bytes) -> tuple[int, ...] | None:
    """The devices of each group of a serialised instruction; () where it lists none, None where it is damaged."""
    try:
        return _sizes(Collective.FromString(message))
    except (DecodeError, IndexError, ZeroDivisionError):
        return None


def _sizes(message: Any) -> tuple[int, ...]:
    if message.HasField("mesh_axes_replica_group_list"):
        return _of_axes(message.mesh_axes_replica_group_list)
    if message.HasField("iota_collective_device_list"):
        return _of_iota(message.iota_collective_device_list)
    held = message.collective_device_list if message.HasField("collective_device_list") else message
    if held is not message and held.HasField("iota_replica_group_list"):
        return _of_iota(held.iota_replica_group_list)
    return tuple(len(group.replica_ids) for group in held.replica_groups)


def _of_iota(message: Any) -> tuple[int, ...]:
    """At most two sizes stand for all, since whoever asks wants to know whether there is one group."""
    return (int(message.num_devices_per_group),) * min(int(message.num_replica_groups), 2)


def _of_axes(message: Any) -> tuple[int, ...]:
    sizes = [int(axis.size) for axis in message.mesh.axes]
    spanned = [
        int(axis.sub_axis_info.size) if axis.HasField("sub_axis_info") else sizes[axis.mesh_axis_index]
        for axis in message.axes
    ]
    return (math.prod(spanned),) * min(math.prod(sizes) // math.prod(spanned), 2)
