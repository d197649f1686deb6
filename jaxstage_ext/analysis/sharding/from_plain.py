"""Shardings read from the plain form that `core` gives JAX's shardings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from jaxstage_ext.analysis.sharding import from_proto, from_text
from jaxstage_ext.analysis.sharding.mesh import Axis, BadSharding, Mesh
from jaxstage_ext.analysis.sharding.slices import REPLICATED, Sharding, on_mesh, on_one_device, unknown


def read(plain: Mapping[str, Any], shape: Sequence[int], meshes: Mapping[str, Mesh] = MappingProxyType({})) -> Sharding:
    """The Sharding of a plain one; unknown, with its text, where it cannot be read. `meshes` are the module's."""
    return replace(_read(plain, shape, meshes), memory=str(plain.get("memory", "")))


def _read(plain: Mapping[str, Any], shape: Sequence[int], meshes: Mapping[str, Mesh]) -> Sharding:
    text, rank = str(plain.get("text", "")), len(shape)
    try:
        if plain["kind"] == "named":
            return _named(plain, rank, text)
        if plain["kind"] == "one device":
            return on_one_device(int(plain["device"]), rank, text)
        if plain["kind"] == "hlo":
            return from_proto.read(plain["proto"], rank, int(plain["devices"]))[0]
        if plain["kind"] == "written":
            is_shardy = text.startswith("#sdy")
            return from_text.shardy(text, meshes, rank) if is_shardy else from_text.hlo(text, rank, plain["devices"])
        if plain["kind"] == "slices":
            return _from_slices(plain["slices"], shape, text)
    except (BadSharding, ValueError, KeyError, IndexError) as problem:
        return unknown(text, str(problem))
    return unknown(text, str(plain.get("why", "an unknown kind of sharding")))


def mesh_of(plain: Mapping[str, Any] | None) -> Mesh | None:
    """The mesh that a plain sharding names."""
    return Mesh(*plain["mesh"]) if plain and plain.get("kind") == "named" and plain["mesh"][0] else None


def _named(plain: Mapping[str, Any], rank: int, text: str) -> Sharding:
    mesh = Mesh(*plain["mesh"])
    dims = [tuple(map(Axis, names)) for names in plain["dims"]]
    if len(dims) != rank:
        raise BadSharding(f"{len(dims)} dimensions for a value of rank {rank}")
    return on_mesh(mesh, dims, tuple(map(Axis, plain["unreduced"])), (), text)


def _from_slices(held: Mapping[int, Sequence[tuple[int, int]]], shape: Sequence[int], text: str) -> Sharding:
    """A sharding given by what each device holds; unknown unless the parts are equal and form a grid."""
    starts = np.array([[start for start, _ in parts] for parts in held.values()], np.int64).reshape(len(held), -1)
    places = [np.unique(starts[:, dim], return_inverse=True) for dim in range(len(shape))]
    tiles = tuple(len(distinct) for distinct, _ in places)
    tile = np.zeros(len(held), np.int64)
    for count, (_, place) in zip(tiles, places, strict=True):
        tile = tile * count + place
    copies, left = divmod(len(held), math.prod(tiles))
    if left or (np.bincount(tile, minlength=math.prod(tiles)) != copies).any():
        return unknown(text, "the parts on its devices do not form a grid")
    numbers = np.array(list(held), np.int64)[np.argsort(tile, kind="stable")]
    made = Sharding(tiles, numbers.reshape(*tiles, copies), ((REPLICATED, copies, ()),), text=text)
    parts = [-(-size // count) for size, count in zip(shape, tiles, strict=True)]
    whole = all(
        (start, stop) == (min(start // part * part, size), min((start // part + 1) * part, size))
        for bounds in held.values()
        for (start, stop), part, size in zip(bounds, parts, shape, strict=True)
        if part
    )
    return made if whole else unknown(text, "the parts on its devices have different sizes")
