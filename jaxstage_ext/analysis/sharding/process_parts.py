"""What each process of a job holds of a value: the shards of its own devices together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.ir.wire.protowire import Longs


@dataclass(frozen=True)
class ProcessPart:
    """What one process holds of a value, each element counted once.

    Attributes:
      shape: of its shards side by side, as `jax.make_array_from_process_local_data` takes them; None where they leave
        gaps in a grid, so that no array has them all.
      bounds: (start, stop) of each dimension; None where its shards are not one slice of the value.
      elements: how many it holds.
    """

    process: int
    shape: tuple[int, ...] | None
    bounds: tuple[tuple[int, int], ...] | None
    elements: int


def process_parts(value: ShardingMap, places: Sequence[DevicePlace]) -> tuple[ProcessPart, ...]:
    """What each process holds, by its index; none of a process without a device of the value.

    Args:
      value: on its devices; nothing is known where its sharding does not fit.
      places: the devices, in the order of the device assignment.
    """
    if not value.fits:
        return ()
    tiles: dict[int, list[tuple[int, ...]]] = {}
    parts = value.sharding.holders.reshape(-1, value.sharding.holders.shape[-1])
    for number, devices in enumerate(parts.tolist()):
        at = tuple(map(int, np.unravel_index(number, value.sharding.tiles))) if value.shape else ()
        for process in {places[one].process for one in devices if one < len(places)}:
            if process is not None:
                tiles.setdefault(process, []).append(at)
    return tuple(_part(process, np.array(tiles[process], np.int64), value) for process in sorted(tiles))


def _part(process: int, at: Longs, value: ShardingMap) -> ProcessPart:
    """`at` has the coordinates of its shards, one row each."""
    along = [np.unique(column) for column in at.T]
    held = [_held(coordinates, dim, value) for dim, coordinates in enumerate(along)]
    is_grid = math.prod(map(len, along)) == len(at)
    is_slice = is_grid and all((np.diff(coordinates) == 1).all() for coordinates in along)
    shape = tuple(int((stops - starts).sum()) for starts, stops in held)
    sizes = [_sizes(at[:, dim], dim, value) for dim in range(at.shape[1])]
    return ProcessPart(
        process,
        shape if is_grid else None,
        tuple((int(starts[0]), int(stops[-1])) for starts, stops in held) if is_slice else None,
        int(np.prod(sizes, 0).sum()) if sizes else 1,
    )


def _held(coordinates: Longs, dim: int, value: ShardingMap) -> tuple[Longs, Longs]:
    """Where the shards at these coordinates of a dimension start and stop; the last may hold less, or nothing."""
    size, room = value.shape[dim], (value.shard_shape or ())[dim]
    return np.minimum(coordinates * room, size), np.minimum((coordinates + 1) * room, size)


def _sizes(coordinates: Longs, dim: int, value: ShardingMap) -> Longs:
    starts, stops = _held(coordinates, dim, value)
    return stops - starts
