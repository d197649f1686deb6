"""The shapes of HLO instructions as columns, from their ShapeProtos.

Numbers: ShapeProto, LayoutProto and PrimitiveType of xla/xla_data.proto in openxla/xla.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.protowire import Bytes, Longs

_ELEMENT_TYPE, _DIMENSIONS, _TUPLE_SHAPES, _LAYOUT, _DYNAMIC = 2, 3, 4, 5, 6
_FIELDS = (_ELEMENT_TYPE, _DIMENSIONS, _TUPLE_SHAPES, _LAYOUT, _DYNAMIC)
_MINOR_TO_MAJOR, _TILES, _ELEMENT_BITS, _MEMORY_SPACE = 1, 6, 7, 8
_TILE_DIMENSIONS = 1
TUPLE, OPAQUE, TOKEN = 13, 14, 17
TYPES = {
    1: ("pred", 8),
    2: ("s8", 8),
    3: ("s16", 16),
    4: ("s32", 32),
    5: ("s64", 64),
    6: ("u8", 8),
    7: ("u16", 16),
    8: ("u32", 32),
    9: ("u64", 64),
    10: ("f16", 16),
    11: ("f32", 32),
    12: ("f64", 64),
    15: ("c64", 64),
    16: ("bf16", 16),
    18: ("c128", 128),
    19: ("f8e5m2", 8),
    20: ("f8e4m3fn", 8),
    21: ("s4", 8),
    22: ("u4", 8),
    23: ("f8e4m3b11fnuz", 8),
    24: ("f8e5m2fnuz", 8),
    25: ("f8e4m3fnuz", 8),
    26: ("s2", 8),
    27: ("u2", 8),
    28: ("f8e4m3", 8),
    29: ("f8e3m4", 8),
    30: ("s1", 8),
    31: ("u1", 8),
    32: ("f4e2m1fn", 8),
    33: ("f8e8m0fnu", 8),
}
"""By PrimitiveType: (HLO's name, bits in memory of one element where the layout does not say otherwise)."""
_BITS = np.zeros(64, np.int64)
_BITS[list(TYPES)] = [bits for _, bits in TYPES.values()]


HOST = 5
"""XLA's number of the host's memory (xla/layout.h), on every platform."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """The result shape of each instruction; a tuple counts as all its arrays together."""

    element_type: Longs
    """PrimitiveType; TUPLE for tuples."""
    rank: Longs
    """Dimensions of an array; 0 for a tuple."""
    elements: Longs
    """Of all arrays."""
    bytes: Longs
    """Of all arrays, without padding of tiles."""
    padded: Longs
    """Bytes with each array filled up to whole tiles, where its layout has any (TPU)."""
    apart: Longs
    """Of `padded`, the bytes outside the default memory space."""
    host: Longs
    """Of these, those in the host's memory."""
    first: Longs
    dims: Longs
    """The sizes of all arrays one after another; the sizes of instruction i begin at `first[i]`."""
    dynamic: npt.NDArray[np.bool_]
    """Whether a size is known only when the program runs; `dims` has the largest."""
    unsized: npt.NDArray[np.bool_]
    """Whether an array has an element type of unknown size; it counts as 0 bytes."""

    def sizes(self, i: int) -> list[int]:
        """The dimensions of instruction i's array."""
        first = int(self.first[i])
        return [int(size) for size in self.dims[first : first + int(self.rank[i])]]


def read(data: Bytes, field: protowire.Field, n: int) -> Shapes:
    """The shapes of n instructions, whose ShapeProtos are the contents of `field`."""
    owner, offset, size = field.row, field.offset, field.size
    top = _level(data, offset, size)
    elements, total, padded, apart, host = (np.zeros(n, np.int64) for _ in range(5))
    dynamic, unsized = np.zeros(n, bool), np.zeros(n, bool)
    level, arrays = top, ~np.isin(top.kind, (TUPLE, OPAQUE, TOKEN))
    while len(owner):
        np.add.at(elements, owner[arrays], level.elements[arrays])
        np.add.at(total, owner[arrays], (level.elements * level.bits + 7)[arrays] // 8)
        filled = (level.padded * level.bits + 7) // 8
        np.add.at(padded, owner[arrays], filled[arrays])
        np.add.at(apart, owner[arrays & (level.space > 0)], filled[arrays & (level.space > 0)])
        np.add.at(host, owner[arrays & (level.space == HOST)], filled[arrays & (level.space == HOST)])
        dynamic[owner[level.dynamic]] = True
        unsized[owner[(level.bits == 0) & ~np.isin(level.kind, (TUPLE, TOKEN))]] = True
        owner, offset, size = owner[level.inner.row], level.inner.offset, level.inner.size
        level = _level(data, offset, size)
        arrays = ~np.isin(level.kind, (TUPLE, OPAQUE, TOKEN))
    return Shapes(
        _spread(field.row, top.kind, n),
        _spread(field.row, top.rank, n),
        elements,
        total,
        padded,
        apart,
        host,
        _spread(field.row, top.first, n),
        top.dims,
        dynamic,
        unsized,
    )


def _spread(row: Longs, values: Longs, n: int) -> Longs:
    column = np.zeros(n, np.int64)
    column[row] = values
    return column


@dataclass(frozen=True, eq=False)
class _Level:
    kind: Longs
    rank: Longs
    elements: Longs
    padded: Longs
    bits: Longs
    space: Longs
    first: Longs
    dims: Longs
    inner: protowire.Field
    dynamic: Longs


def _level(data: Bytes, offset: Longs, size: Longs) -> _Level:
    n = len(offset)
    parts = protowire.read(data, offset, offset + size, _FIELDS)
    kind = _spread(parts[_ELEMENT_TYPE].row, parts[_ELEMENT_TYPE].value, n)
    owner, dims = protowire.packed(data, parts[_DIMENSIONS])
    rank = np.bincount(owner, minlength=n).astype(np.int64)
    first = np.cumsum(rank) - rank
    elements = np.ones(n, np.int64)
    for axis in range(int(np.max(rank, initial=0))):
        has = rank > axis
        elements[has] *= dims[first[has] + axis]
    layout = parts[_LAYOUT]
    wanted = (_MINOR_TO_MAJOR, _TILES, _MEMORY_SPACE, _ELEMENT_BITS)
    of_layout = protowire.read(data, layout.offset, layout.offset + layout.size, wanted)
    space, own = of_layout[_MEMORY_SPACE], of_layout[_ELEMENT_BITS]
    bits = _BITS[np.minimum(kind, len(_BITS) - 1)]
    bits[layout.row[own.row]] = np.where(own.value > 0, own.value, bits[layout.row[own.row]])
    padded = _padded(data, elements, (rank, first, dims), layout.row, of_layout)
    return _Level(
        kind,
        rank,
        elements,
        padded,
        bits,
        _spread(layout.row[space.row], space.value, n),
        first,
        dims,
        parts[_TUPLE_SHAPES],
        _marked(data, parts[_DYNAMIC]),
    )


def _marked(data: Bytes, field: protowire.Field) -> Longs:
    """The messages with a packed repeated bool of which at least one is true."""
    marked = field.value * (field.size == 0) > 0
    for place in range(int(np.max(field.size, initial=0))):
        has = field.size > place
        marked[has] |= data[field.offset[has] + place] > 0
    return np.asarray(field.row[marked])


def _padded(
    data: Bytes,
    elements: Longs,
    sizes: tuple[Longs, Longs, Longs],
    row: Longs,
    of_layout: dict[int, protowire.Field],
) -> Longs:
    """The number of elements with the minor dimensions rounded up to multiples of the outermost tile."""
    padded = elements.copy()
    tiles = of_layout[_TILES]
    if not len(tiles.row):
        return padded
    rank, first, dims = sizes
    layouts, which = np.unique(tiles.row, return_index=True)
    inner = protowire.read(data, tiles.offset[which], tiles.offset[which] + tiles.size[which], (_TILE_DIMENSIONS,))
    tile_of, tile = protowire.packed(data, inner[_TILE_DIMENSIONS])
    tile_rank = np.bincount(tile_of, minlength=len(layouts))
    tile_first = np.cumsum(tile_rank) - tile_rank
    minor_of, minor = protowire.packed(data, of_layout[_MINOR_TO_MAJOR])
    minor_rank = np.bincount(minor_of, minlength=len(row))
    minor_first = np.cumsum(minor_rank) - minor_rank
    shape = row[layouts]
    for place in range(int(np.max(tile_rank, initial=0))):
        has = tile_rank > place
        step = tile[(tile_first + tile_rank - 1 - place)[has]]
        known = (rank[shape] > place)[has] & (minor_rank[layouts] > place)[has]
        size = np.ones(len(step), np.int64)
        who = shape[has][known]
        size[known] = dims[first[who] + minor[minor_first[layouts[has][known]] + place]]
        safe = np.maximum(size, 1)
        filled = np.where(size > 0, -(-size // step) * step, 0)
        padded[shape[has]] = padded[shape[has]] // safe * filled
    return padded
