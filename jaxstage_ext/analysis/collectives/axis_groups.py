"""The devices that exchange in a collective over some axes of a mesh."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from jaxstage_ext.analysis.collectives.device_groups import Groups


def axis_groups(mesh: Mapping[str, int], axes: Sequence[str]) -> Groups:
    """Groups of positions in the device assignment, which is the mesh's devices row by row.

    An axis "x:(2)4" is a part of "x": 4 of it, after its first 2.
    """
    return _groups(tuple(mesh.items()), tuple(axes))


@lru_cache(512)
def _groups(mesh: tuple[tuple[str, int], ...], axes: tuple[str, ...]) -> Groups:
    names, sizes = zip(*(part for axis in mesh for part in _parts(axis, axes)), strict=True) if mesh else ((), ())
    positions = np.arange(math.prod(sizes)).reshape(sizes)
    inner = [at for at, name in enumerate(names) if name in axes]
    outer = [at for at in range(len(names)) if at not in inner]
    rows = positions.transpose(*outer, *inner).reshape(-1, math.prod(sizes[at] for at in inner))
    return Groups(tuple(map(tuple, rows.tolist())))


def _parts(axis: tuple[str, int], axes: Sequence[str]) -> Iterator[tuple[str, int]]:
    """An axis, or the parts of it that are named and what is left before and behind each."""
    name, size = axis
    cuts = sorted(_part(each) for each in axes if each.startswith(f"{name}:("))
    done = 1
    for before, count in cuts:
        if before > done:
            yield f"{name}:before{before}", before // done
        yield f"{name}:({before}){count}", count
        done = before * count
    if size > done or not cuts:
        yield (name if not cuts else f"{name}:rest"), size // done


def _part(name: str) -> tuple[int, int]:
    before, _, count = name.rpartition(":(")[2].partition(")")
    return int(before), int(count)
