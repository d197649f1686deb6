"""How the arguments and results of HLO in a file lie on its devices, as far as the file says it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from google.protobuf.message import DecodeError

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.analysis.layouts.layout_text import ArrayLayout
from jaxstage_ext.analysis.sharding import from_proto, propagation
from jaxstage_ext.analysis.sharding.propagation import Chooser
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, RESULT, ShardedValue, ValueKind
from jaxstage_ext.analysis.sharding.sharding_map import TOKEN, ShardingMap
from jaxstage_ext.analysis.sharding.slices import Sharding, on_one_device, unknown
from jaxstage_ext.ir.hlo import sharding_field
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TUPLE, TYPES
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.unavailable import Unavailable

_SHARDING, _NUMBER = 40, 9
_BITS = dict(TYPES.values())
WHOLE_TYPES = "Types are those of all shards together, with what padding the partitioner added."
_Spelled = Callable[[int], Sharding]


def values(program: Program, devices: int) -> tuple[list[ShardedValue], tuple[str, ...]]:
    """The arguments and results, and what is to be said of them all. Raises Unavailable where there are none."""
    text = program.executable.text or ""
    given, made = layout_text.of_entry(text[: text.find("\n")])
    if not given and not made:
        raise Unavailable(f"{program.file_title} does not say what its entry computation takes and gives")
    module = program.module
    settled = propagation.boundaries(module, devices)
    is_partitioned = not program.is_to_be_partitioned or any(settled)
    if is_partitioned:
        spelled = tuple(map(dict, settled))
    else:
        spelled = (_of_parameters(module, devices), _of_root(module, devices))
    rows = [
        _value(layout, kind, number, some, devices, is_partitioned)
        for kind, layouts, some in ((ARGUMENT, given, spelled[0]), (RESULT, made, spelled[1]))
        for number, layout in enumerate(layouts)
    ]
    return rows, (WHOLE_TYPES,) if is_partitioned and devices > 1 and any(spelled) else ()


def _value(
    layout: ArrayLayout,
    kind: ValueKind,
    number: int,
    spelled: dict[int, _Spelled],
    devices: int,
    is_partitioned: bool,
) -> ShardedValue:
    shape, chooser = layout.sizes, None
    if devices == 1:
        sharding, chooser = on_one_device(0, len(shape)), Chooser.DEFAULT
    elif (of := spelled.get(number)) is not None:
        sharding, chooser = of(len(shape)), None if is_partitioned else Chooser.YOU
    else:
        why = "the file does not say it" if is_partitioned else "it is left to the compiler, and nothing was compiled"
        sharding = unknown("", why)
    if is_partitioned and sharding.is_known and len(sharding.tiles) == len(shape):
        shape = tuple(size * tiles for size, tiles in zip(shape, sharding.tiles, strict=True))
    name = f"{'parameter' if kind is ARGUMENT else 'result'} {number}"
    bits = 0 if layout.dtype == TOKEN else layout.bits or _BITS.get(layout.dtype)
    return ShardedValue(name, kind, ShardingMap(shape, sharding, layout.dtype, bits), chooser)


def _of_parameters(module: Module, devices: int) -> dict[int, _Spelled]:
    rows = np.flatnonzero((module.opcode == b"parameter") & (module.computation == module.entry))
    numbers = np.zeros(len(rows), np.int64)
    field = module.fields(rows, _NUMBER)[_NUMBER]
    numbers[field.row] = field.value
    rows = rows[np.argsort(numbers, kind="stable")]
    return _numbered([_leaves(module, int(row)) for row in rows.tolist()], devices)


def _of_root(module: Module, devices: int) -> dict[int, _Spelled]:
    return _numbered([_leaves(module, int(module.roots[module.entry]))], devices)


def _leaves(module: Module, row: int) -> list[object | None] | None:
    """The shardings of the arrays of an instruction; None where it has a tuple of it is not known how many."""
    rows = np.array([row], np.int64)
    [data] = module.strings(module.fields(rows, _SHARDING)[_SHARDING], 1)
    is_tuple = module.shapes.element_type[row] == TUPLE
    if not data:
        return None if is_tuple else [None]
    try:
        message = sharding_field.Sharding.FromString(data)
    except DecodeError:
        return None
    return None if is_tuple and message.type != sharding_field.TUPLE else list(from_proto.leaves(message))


def _numbered(leaves: Sequence[list[object | None] | None], devices: int) -> dict[int, _Spelled]:
    """By the number of the array; nothing from a tuple on of which it is not known how many it has."""
    found: dict[int, _Spelled] = {}
    number = 0
    for each in leaves:
        if each is None:
            break
        for leaf in each:
            if leaf is not None:
                found[number] = _reading(leaf, devices)
            number += 1
    return found


def _reading(leaf: object, devices: int) -> _Spelled:
    return lambda rank: from_proto.flat(leaf, rank, devices)[0]
