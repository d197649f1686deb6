"""A value on its mesh as a flat drawing: two axes as a grid of devices, with the slices that they hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from jaxstage_ext.analysis.sharding.device_places import DevicePlace, processes
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.analysis.sharding.sharding_wording import array, spelled

MOST_ROWS, MOST_COLUMNS = 16, 8
"""Most devices drawn along each axis."""


class MeshCell(TypedDict):
    """A device: its id, its slice, the number of that slice, and the share of data in its shard, 0 to 1.

    `process` is its process, where the devices are of several.
    """

    device: int
    process: NotRequired[int]
    slice: str
    part: int
    filled: float


class Sheet(TypedDict):
    """Two axes of a mesh; `left_out` says what is not drawn, "" where all is."""

    title: str
    rows: str
    columns: str
    cells: list[list[MeshCell]]
    left_out: str


def mesh_of(value: ShardedValue) -> Mesh:
    """The mesh of a value; a near-square one of its devices where its sharding names none."""
    if value.map.sharding.mesh is not None and value.map.sharding.mesh.names:
        return value.map.sharding.mesh
    devices = value.map.numbers.tolist()
    rows = next(rows for rows in range(math.isqrt(len(devices)), 0, -1) if len(devices) % rows == 0)
    return Mesh(("", "device"), (rows, len(devices) // rows), tuple(devices))


def parts_of(value: ShardedValue) -> dict[int, int]:
    """Per device, the number of the part that it holds."""
    parts = value.map.sharding.holders.reshape(-1, value.map.sharding.holders.shape[-1])
    return {int(device): number for number, devices in enumerate(parts) for device in devices}


def texts_of(value: ShardedValue) -> dict[int, str]:
    """Per device, its slice: `[0:4, 16:32]`."""
    slices = zip(value.map.numbers.tolist(), value.map.bounds.tolist(), strict=True)
    return {number: spelled(bounds) for number, bounds in slices}


def sheet(value: ShardedValue, places: Sequence[DevicePlace] = ()) -> Sheet:
    """The first two axes, at index 0 of the others. Raises BadSharding where it is unknown which device holds what."""
    mesh, parts, texts, filled = mesh_of(value), parts_of(value), texts_of(value), _filled(value)
    grid: Any = mesh.array
    flat = grid.reshape(1, -1) if grid.ndim < 2 else grid.reshape(*grid.shape[:2], -1)[:, :, 0]
    names = ["", *mesh.names] if grid.ndim < 2 else list(mesh.names)
    cells = [
        [_cell(number, places, parts, texts, filled) for number in row[:MOST_COLUMNS]]
        for row in flat[:MOST_ROWS].tolist()
    ]
    drawn, axes = sum(map(len, cells)), ", ".join(f"{name}=0" for name in mesh.names[2:])
    left = f"{drawn} of {mesh.size:,} devices are drawn" + (f", those at {axes}" if axes else "")
    title = f"{value.name} {array(value.map.dtype, value.map.shape)} {value.map.sharding.shown}"
    return Sheet(
        title=(f"{title} on mesh {mesh}" if value.map.sharding.mesh is not None else title).strip(),
        rows=names[0],
        columns=names[1] if len(names) > 1 else "",
        cells=cells,
        left_out=left if drawn < mesh.size else "",
    )


def _cell(
    number: int, places: Sequence[DevicePlace], parts: dict[int, int], texts: dict[int, str], filled: dict[int, float]
) -> MeshCell:
    place = places[number] if number < len(places) else DevicePlace(number)
    cell = MeshCell(device=place.id, slice=texts[number], part=parts[number], filled=filled[number])
    if processes(places) > 1 and place.process is not None:
        cell["process"] = place.process
    return cell


def _filled(value: ShardedValue) -> dict[int, float]:
    room = np.array(value.map.shard_shape, np.int64)
    held = value.map.bounds[:, :, 1] - value.map.bounds[:, :, 0]
    shares = np.prod(held, 1) / max(int(np.prod(room)), 1) if room.size else np.ones(len(value.map.numbers))
    return dict(zip(value.map.numbers.tolist(), shares.tolist(), strict=True))
