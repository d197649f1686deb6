"""Shapes of the parts of instructions' results: element 3 of a loop's tuple, the first array of a fusion's two."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir import protowire
from jaxstage_ext.ir.hlo import shapes as hlo_shapes
from jaxstage_ext.ir.hlo.operations import SHAPE, Lists, Operations
from jaxstage_ext.ir.hlo.shapes import TYPES, Shapes
from jaxstage_ext.ir.protowire import Longs

_TUPLE_SHAPES = 4


def read(ops: Operations, row: Longs, index: Lists) -> Shapes:
    """For each instruction `row` the shape of the part that `index` names; () is its whole result.

    A part that is not there has no elements and no type.
    """
    shape = ops.fields(row, SHAPE)[SHAPE]
    offset, size = (np.zeros(len(row), np.int64) for _ in range(2))
    offset[shape.row], size[shape.row] = shape.offset, shape.size
    for depth in range(max(index.count.tolist(), default=0)):
        inside = np.flatnonzero(index.count > depth)
        offset[inside], size[inside] = _part(ops, offset[inside], size[inside], index.at(depth)[inside])
    there = protowire.Field(np.arange(len(row)), np.zeros(len(row), np.int64), offset, size)
    return hlo_shapes.read(ops._data, there, len(row))


def _part(ops: Operations, offset: Longs, size: Longs, wanted: Longs) -> tuple[Longs, Longs]:
    found = protowire.read(ops._data, offset, offset + size, (_TUPLE_SHAPES,))[_TUPLE_SHAPES]
    order = np.argsort(found.row, kind="stable")
    first = np.searchsorted(found.row[order], np.arange(len(offset)))
    count = np.bincount(found.row, minlength=len(offset))
    has = (wanted >= 0) & (wanted < count)
    place = order[(first + wanted)[has]]
    at, length = np.zeros(len(offset), np.int64), np.zeros(len(offset), np.int64)
    at[has], length[has] = found.offset[place], found.size[place]
    return at, length


def text(shapes: Shapes, i: int) -> str:
    """`f32[8,128]`; "tuple" for a tuple, "" for none."""
    kind = int(shapes.element_type[i])
    if kind in TYPES:
        return f"{TYPES[kind][0]}[{','.join(map(str, shapes.sizes(i)))}]"
    return "tuple" if kind == hlo_shapes.TUPLE else ""


def count(ops: Operations, row: int) -> int | None:
    """How many parts an instruction's tuple has; None where its result is no tuple."""
    if int(ops.shapes.element_type[row]) != hlo_shapes.TUPLE:
        return None
    shape = ops.fields(np.array([row]), SHAPE)[SHAPE]
    return len(protowire.read(ops._data, shape.offset, shape.offset + shape.size, (_TUPLE_SHAPES,))[_TUPLE_SHAPES].row)
