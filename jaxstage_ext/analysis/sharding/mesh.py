"""Device meshes: axes, parts of axes, and the axes that a row of devices spans."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.deliberate_error import DeliberateError

MOST_DEVICES = 1 << 20


class BadSharding(DeliberateError, ValueError):
    """A sharding that contradicts itself or the shape; its text is one line."""


def check_number(devices: int) -> int:
    """The number of devices. Raises BadSharding above MOST_DEVICES."""
    if devices > MOST_DEVICES:
        raise BadSharding(f"{devices:,} devices exceed the limit of {MOST_DEVICES:,}")
    return devices


@dataclass(frozen=True)
class Mesh:
    """Named axes of devices."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    devices: tuple[int, ...] | None = None
    """Positions in the program's device assignment, the last axis fastest; None for 0, 1, 2, ..."""

    @property
    def size(self) -> int:
        return math.prod(self.sizes)

    @property
    def array(self) -> Longs:
        """The devices, one dimension per axis. Raises BadSharding where their number does not match the axes."""
        check_number(self.size)
        flat = np.arange(self.size) if self.devices is None else np.array(self.devices, np.int64)
        if len(flat) != self.size:
            raise BadSharding(f"the mesh {self} has {self.size} places, but names {len(flat)} devices")
        return flat.reshape(self.sizes)

    def __str__(self) -> str:
        return ", ".join(f"{name}={size}" for name, size in zip(self.names, self.sizes, strict=True)) or "one device"


@dataclass(frozen=True)
class Axis:
    """A mesh axis, or a part of one: `size` of its positions, with `before` major to them.

    An axis of 8 may be used as 2 x 2 x 2; the middle one is Axis(name, 2, 2), which Shardy writes "name":(2)2.
    """

    name: str
    before: int = 1
    size: int | None = None

    def __str__(self) -> str:
        return self.name if self.size is None else f"{self.name}:({self.before}){self.size}"


def places_of(mesh: Mesh) -> Longs:
    """Per device, its coordinates in the mesh."""
    array = mesh.array
    where = np.zeros((max(array.ravel().tolist(), default=0) + 1, len(mesh.sizes)), np.int64)
    where[array.ravel()] = np.stack(np.unravel_index(np.arange(array.size), array.shape), 1) if array.ndim else 0
    return where


def axes_along(places: Longs, mesh: Mesh) -> tuple[Axis, ...] | None:
    """The axes that a row of devices spans, slowest first, from their mesh coordinates; None where there are none."""
    axes: list[tuple[int, Axis]] = []
    for column, (name, size) in enumerate(zip(mesh.names, mesh.sizes, strict=True)):
        values = places[:, column]
        distinct = np.unique(values)
        if len(distinct) == 1:
            continue
        step = int(distinct[1] - distinct[0])
        if size % (step * len(distinct)) or (np.diff(distinct) != step).any():
            return None
        before = size // (step * len(distinct))
        axis = Axis(name) if len(distinct) == size else Axis(name, before, len(distinct))
        axes.append((int(np.flatnonzero(values != values[0])[0]), axis))
    if math.prod(axis.size or mesh.sizes[mesh.names.index(axis.name)] for _, axis in axes) != len(places):
        return None
    return tuple(axis for _, axis in sorted(axes, key=lambda pair: -pair[0]))


def size_of(mesh: Mesh, axis: Axis) -> int:
    """The size of an axis or of a part of one. Raises BadSharding where the mesh has no such axis."""
    if axis.name not in mesh.names:
        raise BadSharding(f"the mesh {mesh} has no axis {axis.name!r}")
    return mesh.sizes[mesh.names.index(axis.name)] if axis.size is None else axis.size


def key_of(mesh: Mesh, axis: Axis) -> tuple[str, int, int]:
    """A key that is equal for two spellings of the same axis."""
    return axis.name, axis.before, size_of(mesh, axis)


def digits_of(mesh: Mesh, used: Sequence[Axis]) -> tuple[list[Axis], Longs]:
    """The axes of the mesh, cut where a part of one is used, and its devices with one dimension per such axis."""
    digits: list[Axis] = []
    sizes: list[int] = []
    for name, size in zip(mesh.names, mesh.sizes, strict=True):
        parts = [axis for axis in used if axis.name == name and axis.size is not None]
        cuts = sorted({1, size, *(cut for a in parts for cut in (a.before, a.before * (a.size or 1)))})
        if any(big % small for small, big in itertools.pairwise(cuts)) or cuts[-1] > size:
            raise BadSharding(f"parts {', '.join(map(str, parts))} do not divide the axis {name}={size}")
        whole = len(cuts) <= 2
        for low, high in itertools.pairwise(cuts):
            digits.append(Axis(name) if whole else Axis(name, low, high // low))
            sizes.append(high // low)
        if size == 1:
            digits.append(Axis(name))
            sizes.append(1)
    for axis in used:
        size_of(mesh, axis)
        if key_of(mesh, axis) not in {key_of(mesh, digit) for digit in digits}:
            raise BadSharding(f"the axis {axis} of the mesh {mesh} overlaps another part of it")
    return digits, mesh.array.reshape(sizes)
