"""The shardings of a program as plain JSON types, as a saved inspection holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.analysis.sharding.slices import Sharding
from jaxstage_ext.analysis.sharding.value_tables import Shardings

MOST_NUMBERS = 1_000_000
"""Devices of all shardings together, each sharding counted once."""


class PlaceForm(TypedDict):
    """A device."""

    id: int
    process: int | None
    coords: list[int] | None
    core: int | None


class MeshForm(TypedDict):
    """A mesh."""

    names: list[str]
    sizes: list[int]
    devices: list[int] | None


class RestForm(TypedDict):
    """How the devices of one shard share it."""

    kind: str
    count: int
    axes: list[list[Any]]


class ShardingForm(TypedDict):
    """A sharding; `mesh` is its place among the meshes, and an axis is its name, `before` and `size`."""

    tiles: list[int]
    holders: list[int]
    rest: list[RestForm]
    axes: list[list[list[Any]]] | None
    mesh: int | None
    text: str
    problem: str
    only: int | None
    memory: str


class ValueForm(TypedDict):
    """A value; `sharding` is its place among the shardings."""

    name: str
    kind: str
    shape: list[int]
    dtype: str
    bits: int | None
    sharding: int
    chosen_by: str | None
    line: str
    is_sent: bool


class ShardingsForm(TypedDict):
    """The shardings of a program; values share meshes and shardings, and the first `own` meshes are the program's."""

    places: list[PlaceForm]
    meshes: list[MeshForm]
    own: int
    shardings: list[ShardingForm]
    values: list[ValueForm]
    notes: list[str]


def plain(shardings: Shardings) -> ShardingsForm | None:
    """What is saved of them, without intermediates; None where they are too many to be saved."""
    if sum(value.map.sharding.devices for value in _distinct(shardings.values)) > MOST_NUMBERS:
        return None
    distinct = _distinct(shardings.values)
    meshes = list(dict.fromkeys([*shardings.meshes, *(mesh for one in distinct if (mesh := one.map.sharding.mesh))]))
    numbers = {_key(value): at for at, value in enumerate(distinct)}
    return ShardingsForm(
        places=[_plain_place(place) for place in shardings.places],
        meshes=[_plain_mesh(mesh) for mesh in meshes],
        own=len(shardings.meshes),
        shardings=[_plain_sharding(value.map.sharding, meshes) for value in distinct],
        values=[_plain_value(value, numbers[_key(value)]) for value in shardings.values],
        notes=list(shardings.notes),
    )


def _distinct(values: Sequence[ShardedValue]) -> list[ShardedValue]:
    """One value of each sharding."""
    return list({_key(value): value for value in values}.values())


def _key(value: ShardedValue) -> tuple[Any, ...]:
    one = value.map.sharding
    return one.tiles, one.holders.tobytes(), one.rest, one.axes, one.mesh, one.text, one.problem, one.only, one.memory


def _plain_place(place: DevicePlace) -> PlaceForm:
    coords = None if place.coords is None else list(place.coords)
    return PlaceForm(id=place.id, process=place.process, coords=coords, core=place.core)


def _plain_mesh(mesh: Mesh) -> MeshForm:
    devices = None if mesh.devices is None else list(mesh.devices)
    return MeshForm(names=list(mesh.names), sizes=list(mesh.sizes), devices=devices)


def _plain_sharding(one: Sharding, meshes: Sequence[Mesh]) -> ShardingForm:
    return ShardingForm(
        tiles=list(one.tiles),
        holders=one.holders.ravel().tolist(),
        rest=[RestForm(kind=kind, count=count, axes=_plain_axes(axes)) for kind, count, axes in one.rest],
        axes=None if one.axes is None else list(map(_plain_axes, one.axes)),
        mesh=None if one.mesh is None else meshes.index(one.mesh),
        text=one.text,
        problem=one.problem,
        only=one.only,
        memory=one.memory,
    )


def _plain_axes(axes: Sequence[Axis]) -> list[list[Any]]:
    return [[axis.name, axis.before, axis.size] for axis in axes]


def _plain_value(value: ShardedValue, sharding: int) -> ValueForm:
    return ValueForm(
        name=value.name,
        kind=value.kind.value,
        shape=list(value.map.shape),
        dtype=value.map.dtype,
        bits=value.map.bits,
        sharding=sharding,
        chosen_by=None if value.chosen_by is None else value.chosen_by.value,
        line=value.line,
        is_sent=value.is_sent,
    )
