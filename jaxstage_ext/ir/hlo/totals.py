"""What a whole HLO module adds up to: kernels, collectives, the compiler's estimate. A loop's body counts once."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo.module import BOOKKEEPING, COLLECTIVES, ESTIMATE, Module
from jaxstage_ext.ir.protowire import Longs

_RUNS_CALLED = (b"while", b"conditional", b"call", b"async-start")
"""Opcodes whose called computations run as they stand; others apply theirs to elements, or fuse it."""
_NO_KERNEL = (
    *BOOKKEEPING,
    *_RUNS_CALLED,
    *COLLECTIVES,
    *(opcode.replace(b"-start", b"-done") for opcode in COLLECTIVES if opcode.endswith(b"-start")),
    *(b"async-update", b"async-done", b"copy", b"copy-start", b"copy-done", b"after-all", b"add-dependency"),
    *(b"partition-id", b"replica-id", b"opt-barrier", b"send", b"send-done", b"recv", b"recv-done", b"infeed"),
    *(b"outfeed", b"domain", b"get-dimension-size"),
)
_CYCLES = re.compile(re.escape(ESTIMATE) + rb"(\d{1,18})\"")


@dataclass(frozen=True)
class Collective:
    """All collectives of one kind.

    Attributes:
      bytes: that one device hands over, of an all-gather that it receives; None where a type's size is not known.
    """

    kind: str
    count: int
    bytes: int | None


def executed(module: Module) -> npt.NDArray[np.bool_]:
    """Which instructions run as they stand: those of the entry, of loops, branches and calls."""
    caller, root = module.graph.by_called
    runs = np.isin(module.opcode[caller], _RUNS_CALLED)
    source, target = module.computation[caller[runs]], module.computation[root[runs]]
    count = int(module.computation[-1]) + 1 if len(module.computation) else 0
    reached = np.zeros(count, np.bool_)
    fresh = np.array([module.entry] if module.entry >= 0 and count > module.entry else [], np.int64)
    while len(fresh):
        reached[fresh] = True
        found = np.unique(target[np.isin(source, fresh)])
        fresh = found[~reached[found]]
    return reached[module.computation]


def kernels(module: Module) -> int:
    """Instructions that launch a kernel on a GPU; copies and collectives are not among them."""
    return int((executed(module) & ~np.isin(module.opcode, _NO_KERNEL)).sum())


def estimated_cycles(module: Module) -> int | None:
    """The sum of the TPU compiler's estimates; None where it gives none. Collectives have none."""
    found = [(match.start(), int(match[1])) for match in _CYCLES.finditer(module.raw)]
    if not found:
        return None
    position, cycles = np.array(found, np.int64).T
    row = np.searchsorted(module.ends, position, side="right")
    return int(cycles[executed(module)[row]].sum())


def collectives(module: Module) -> tuple[Collective, ...]:
    """By kind, the most frequent first."""
    sizes: dict[str, list[int | None]] = defaultdict(list)
    rows = np.flatnonzero(np.isin(module.opcode, COLLECTIVES))
    order = np.argsort(module.ids)
    for row in rows.tolist():
        kind = module.opcode[row].decode().removesuffix("-start")
        sizes[kind].append(_exchanged(module, row, kind, order))
    made = [Collective(kind, len(found), _sum(found)) for kind, found in sizes.items()]
    return tuple(sorted(made, key=lambda one: (-one.count, one.kind)))


def _exchanged(module: Module, row: int, kind: str, order: Longs) -> int | None:
    """Bytes of the operands; an all-gather's are those of its result."""
    instruction = _instruction(module, row)
    if kind == "all-gather":
        shape = instruction.shape
        started = module.opcode[row].endswith(b"-start")
        return _bytes(shape.tuple_shapes[1] if started and len(shape.tuple_shapes) > 1 else shape)
    operands = np.array(instruction.operand_ids, np.int64)
    places = np.minimum(np.searchsorted(module.ids, operands, sorter=order), len(order) - 1)
    return _sum([_bytes(_instruction(module, int(order[place])).shape) for place in places])


def _instruction(module: Module, row: int) -> Any:
    start = int(module.ends[row - 1]) if row else 0
    return schema.Instruction.FromString(module.raw[start : int(module.ends[row])])


def _bytes(shape: Any) -> int | None:
    if shape.element_type == schema.TUPLE:
        return _sum([_bytes(part) for part in shape.tuple_shapes])
    bits = schema.ELEMENT_BITS.get(shape.element_type)
    return None if bits is None else -(-bits * math.prod(shape.dimensions) // 8)


def _sum(sizes: list[int | None]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)
