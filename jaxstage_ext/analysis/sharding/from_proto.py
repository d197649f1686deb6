"""Shardings read from XLA's protos: OpSharding in its tiled and its named form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxstage_ext.analysis.sharding.from_text import iota
from jaxstage_ext.analysis.sharding.mesh import Axis, BadSharding, Mesh
from jaxstage_ext.analysis.sharding.slices import (
    MANUAL,
    REPLICATED,
    UNREDUCED,
    Sharding,
    on_mesh,
    on_one_device,
    shared_by_all,
    tiled,
    unknown,
)
from jaxstage_ext.ir.hlo import sharding_field as proto

_KINDS = {proto.REPLICATED: REPLICATED, proto.MANUAL: MANUAL, proto.UNREDUCED: UNREDUCED}


def read(data: bytes, rank: int, devices: int) -> list[Sharding]:
    """The shardings of a serialised OpSharding: one, or one per array of a tuple.

    `rank` is the value's and `devices` is the number of the program's devices, for forms that do not say.
    Raises ValueError (DecodeError) on malformed bytes.
    """
    return flat(proto.Sharding.FromString(data), rank, devices)


def flat(message: Any, rank: int, devices: int) -> list[Sharding]:
    """The shardings of a parsed OpSharding."""
    if message.type == proto.TUPLE:
        return [sharding for part in message.tuple_shardings for sharding in flat(part, rank, devices)]
    try:
        return [_sharding(message, rank, devices)]
    except (BadSharding, ValueError, IndexError) as problem:
        return [unknown(" ".join(str(message).split())[:200], str(problem))]


def leaves(message: Any) -> Iterator[Any]:
    """The messages of a tuple's arrays, whose ranks differ; the message itself where it is not a tuple."""
    if message.type == proto.TUPLE:
        for part in message.tuple_shardings:
            yield from leaves(part)
    else:
        yield message


def _sharding(message: Any, rank: int, devices: int) -> Sharding:
    if message.HasField("named_sharding"):
        return _named(message.named_sharding, rank, devices)
    if message.type == proto.MAXIMAL:
        return on_one_device(int(message.tile_assignment_devices[0]), rank)
    if message.type == proto.OTHER:
        return _tiled(message)
    if message.type in _KINDS:
        return shared_by_all(_KINDS[message.type], devices, rank)
    if message.type == proto.UNKNOWN:
        return unknown("{unknown}", "the compiler has not decided it")
    raise BadSharding(f"an OpSharding of the unknown type {message.type}")


def _tiled(message: Any) -> Sharding:
    if message.iota_reshape_dims:
        order = iota(list(message.iota_reshape_dims), list(message.iota_transpose_perm))
    else:
        order = np.array(message.tile_assignment_devices, np.int64)
    kinds = [REPLICATED] if message.replicate_on_last_tile_dim else []
    kinds += [_KINDS.get(kind, f"type {kind}") for kind in message.last_tile_dims]
    return tiled(list(message.tile_assignment_dimensions), order, kinds)


def _named(message: Any, rank: int, devices: int) -> Sharding:
    mesh = mesh_of(message.mesh)
    if not mesh.names:
        is_single = mesh.devices is not None and len(mesh.devices) == 1
        return on_one_device(mesh.array.item(), rank) if is_single else shared_by_all(REPLICATED, devices, rank)
    dims = [axes_of(dim.axes, mesh) for dim in message.dim_shardings] or [()] * rank
    return on_mesh(mesh, dims, axes_of(message.unreduced_axes, mesh), axes_of(message.manual_axes, mesh))


def mesh_of(message: Any) -> Mesh:
    """The Mesh of a MeshProto. Raises BadSharding."""
    ids = tuple(message.device_ids)
    if message.HasField("iota_transform"):
        ids = tuple(
            iota(list(message.iota_transform.reshape_dims), list(message.iota_transform.transpose_perm)).tolist()
        )
    return Mesh(tuple(axis.name for axis in message.axes), tuple(axis.size for axis in message.axes), ids or None)


def axes_of(references: Sequence[Any], mesh: Mesh) -> tuple[Axis, ...]:
    """The axes that AxisRefProtos name. Raises IndexError for an axis that the mesh does not have."""
    return tuple(
        Axis(mesh.names[ref.mesh_axis_index], ref.sub_axis_info.pre_size, ref.sub_axis_info.size)
        if ref.HasField("sub_axis_info")
        else Axis(mesh.names[ref.mesh_axis_index])
        for ref in references
    )
