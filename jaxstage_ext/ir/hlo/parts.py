"""Shapes of the parts of instructions' results: element 3 of a loop's tuple, the first array of a fusion's two."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo import shapes as hlo_shapes
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TYPES, Shapes
from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.lists import Lists
from jaxstage_ext.ir.wire.protowire import Longs

_TUPLE_SHAPES = 4


def read(module: Module, row: Longs, index: Lists) -> Shapes:
    """For each instruction `row` the shape of the part that `index` names; () names its whole result.

    A part that does not exist has no elements and no type.
    """
    shape = _shape(module, row)
    offset, size = (np.zeros(len(row), np.int64) for _ in range(2))
    offset[shape.row], size[shape.row] = shape.offset, shape.size
    for depth in range(max(index.count.tolist(), default=0)):
        inside = np.flatnonzero(index.count > depth)
        offset[inside], size[inside] = _part(module, offset[inside], size[inside], index.at(depth)[inside])
    parts = protowire.Field(np.arange(len(row)), np.zeros(len(row), np.int64), offset, size)
    return hlo_shapes.read(module.data, parts, len(row))


def _shape(module: Module, row: Longs) -> protowire.Field:
    return module.fields(row, schema.INSTRUCTION_SHAPE)[schema.INSTRUCTION_SHAPE]


def _part(module: Module, offset: Longs, size: Longs, wanted: Longs) -> tuple[Longs, Longs]:
    """(offset, size) of the wanted element of each tuple shape; of a shape that several name it is read once."""
    at, which, shape = np.unique(offset, return_index=True, return_inverse=True)
    elements = protowire.read(module.data, at, at + size[which], (_TUPLE_SHAPES,))[_TUPLE_SHAPES]
    order = np.argsort(elements.row, kind="stable")
    first = np.searchsorted(elements.row[order], np.arange(len(at)))[shape]
    count = np.bincount(elements.row, minlength=len(at))[shape]
    has = (wanted >= 0) & (wanted < count)
    place = order[(first + wanted)[has]]
    at, length = np.zeros(len(offset), np.int64), np.zeros(len(offset), np.int64)
    at[has], length[has] = elements.offset[place], elements.size[place]
    return at, length


def text(shapes: Shapes, i: int) -> str:
    """`f32[8,128]`; "tuple" for a tuple, "" for none."""
    kind = int(shapes.element_type[i])
    if kind in TYPES:
        return f"{TYPES[kind][0]}[{','.join(map(str, shapes.sizes(i)))}]"
    return "tuple" if kind == hlo_shapes.TUPLE else ""


def count(module: Module, row: int) -> int | None:
    """How many parts an instruction's tuple has; None where its result is not a tuple."""
    if int(module.shapes.element_type[row]) != hlo_shapes.TUPLE:
        return None
    return len(module.inside(_shape(module, np.array([row])), _TUPLE_SHAPES)[_TUPLE_SHAPES].row)
