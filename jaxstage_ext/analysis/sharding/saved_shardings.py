"""The shardings of a saved program, read from what someone else may have written: each part is checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh import MOST_DEVICES, Axis, BadSharding, Mesh, check_number, digits_of
from jaxstage_ext.analysis.sharding.propagation import Chooser
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue, ValueKind
from jaxstage_ext.analysis.sharding.sharding_forms import (
    MeshForm,
    PlaceForm,
    ShardingForm,
    ShardingsForm,
    ValueForm,
)
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import MANUAL, REPLICATED, UNKNOWN, UNREDUCED, Sharding
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.report.saved.json_form import BadForm, checked, quoted
from jaxstage_ext.report.unavailable import Unavailable

_MOST_RANK = 64


def shardings_in(data: Any, where: str) -> Shardings:
    """The shardings that `sharding_forms.plain` wrote. Raises BadForm for anything else."""
    form: ShardingsForm = checked(data, ShardingsForm, where)
    try:
        places = tuple(_place(place) for place in form["places"])
        meshes = [_mesh(mesh) for mesh in form["meshes"]]
        shardings = [_sharding(one, meshes) for one in form["shardings"]]
        values = tuple(_value(value, shardings) for value in form["values"])
        own = meshes[: _among(form["own"], len(meshes) + 1, "meshes")]
    except BadSharding as error:
        raise BadForm(f"{where}: {error}") from None
    return Shardings(values, places, tuple(own), tuple(form["notes"]), _not_saved)


def _not_saved() -> tuple[ShardedValue, ...]:
    raise Unavailable("a saved inspection holds the shardings of arguments and results alone; inspect it again")


def _place(form: PlaceForm) -> DevicePlace:
    coords = None if form["coords"] is None else tuple(form["coords"][:_MOST_RANK])
    return DevicePlace(form["id"], form["process"], coords, form["core"])


def _mesh(form: MeshForm) -> Mesh:
    sizes = _sizes(form["sizes"], 1, "a mesh")
    if len(form["names"]) != len(sizes) or len(set(form["names"])) < len(sizes):
        raise BadSharding(f"a mesh of {len(sizes)} axes names {len(form['names'])}")
    made = Mesh(tuple(form["names"]), sizes, None if form["devices"] is None else _devices(form["devices"]))
    check_number(made.array.size)
    return made


def _sizes(sizes: Sequence[int], least: int, what: str) -> tuple[int, ...]:
    if len(sizes) > _MOST_RANK or any(size < least for size in sizes):
        raise BadSharding(f"{what} has the sizes {quoted(str(sizes[:8]))}")
    return tuple(sizes)


def _devices(numbers: Sequence[int]) -> tuple[int, ...]:
    if any(not 0 <= number < MOST_DEVICES for number in numbers) or len(set(numbers)) < len(numbers):
        raise BadSharding("a device occurs twice, or is none that there can be")
    return tuple(numbers)


def _sharding(form: ShardingForm, meshes: Sequence[Mesh]) -> Sharding:
    tiles, holders = _sizes(form["tiles"], 1, "a sharding"), np.array(_devices(form["holders"]), np.int64)
    mesh = None if form["mesh"] is None else meshes[_among(form["mesh"], len(meshes), "meshes")]
    rest = tuple((_kind(one["kind"]), one["count"], _axes(one["axes"])) for one in form["rest"])
    parts, copies = math.prod(tiles), math.prod(count for _, count, _ in rest)
    if not len(holders) or len(holders) % parts or (rest and copies * parts != len(holders)):
        raise BadSharding(f"{len(holders)} devices do not hold {quoted(str(tiles[:8]))} shards")
    axes = None if form["axes"] is None else tuple(map(_axes, form["axes"]))
    if axes is not None and len(axes) != len(tiles):
        raise BadSharding(f"axes of {len(axes)} dimensions, and shards of {len(tiles)}")
    if mesh is not None:
        digits_of(mesh, [axis for dim in (*(axes or ()), *(named for _, _, named in rest)) for axis in dim])
    about = form["text"], form["problem"], form["only"], form["memory"]
    return Sharding(tiles, holders.reshape(*tiles, -1), rest, axes, mesh, *about)


def _kind(kind: str) -> str:
    if kind not in (REPLICATED, MANUAL, UNREDUCED, UNKNOWN):
        raise BadSharding(f"devices cannot share a shard as {quoted(kind)}")
    return kind


def _axes(plain_axes: Sequence[Sequence[Any]]) -> tuple[Axis, ...]:
    for one in plain_axes:
        if len(one) != 3:
            raise BadSharding("an axis is not a name and the part of it")
        checked(one[0], str, "the name of an axis")
        _sizes([checked(size, int, "a part of an axis") for size in one[1:] if size is not None], 1, "an axis")
    return tuple(Axis(name, 1 if before is None else before, size) for name, before, size in plain_axes)


def _value(form: ValueForm, shardings: Sequence[Sharding]) -> ShardedValue:
    kinds, choosers = {kind.value: kind for kind in ValueKind}, {one.value: one for one in Chooser}
    if form["kind"] not in kinds or form["chosen_by"] not in (None, *choosers):
        raise BadSharding(f"a value cannot be {quoted(form['kind'])}, chosen by {quoted(form['chosen_by'])}")
    sharding = shardings[_among(form["sharding"], len(shardings), "shardings")]
    shape, bits = _sizes(form["shape"], 0, "a value"), form["bits"]
    if bits is not None and bits < 0:
        raise BadSharding(f"elements of {quoted(bits)} bits")
    chosen = None if form["chosen_by"] is None else choosers[form["chosen_by"]]
    shard_map = ShardingMap(shape, sharding, form["dtype"], bits)
    return ShardedValue(form["name"], kinds[form["kind"]], shard_map, chosen, form["line"], is_sent=form["is_sent"])


def _among(number: int, end: int, what: str) -> int:
    if not 0 <= number < end:
        raise BadSharding(f"number {quoted(number)} of {end:,} {what}")
    return number
