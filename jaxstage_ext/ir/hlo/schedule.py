"""The order in which a module's instructions run, called computations laid out where they are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo.operations import Operations
from jaxstage_ext.ir.protowire import Longs

_CALLING = (b"call", b"while", b"conditional", b"async-start")
"""Opcodes whose computations XLA lays out before the instruction; a loop's condition before its body."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Instructions (rows of Operations) in the order that they run, each once, loops unrolled zero times.

    Attributes:
      order: an instruction for each position.
      position: a position for each instruction, -1 for those inside fusions and reducers.
      ids: from the instructions' ids to their rows.
    """

    order: Longs
    position: Longs
    ids: Ids = field(repr=False)

    def __len__(self) -> int:
        return len(self.order)


def read(proto: bytes, ops: Operations) -> Schedule | None:
    """The schedule of a serialised HloModuleProto; None where it has none (XLA has not scheduled it)."""
    module = schema.Module.FromString(proto)
    number = {computation.id: i for i, computation in enumerate(module.computations)}
    index = Ids(ops)
    sequences = {
        number[entry.key]: index(np.array(entry.value.instruction_ids, np.int64))
        for entry in module.schedule.sequences
        if entry.key in number
    }
    if ops.entry not in sequences:
        return None
    order = np.concatenate([np.zeros(0, np.int64), *_laid_out(ops, sequences, ops.entry, set())])
    order = order[order >= 0]
    position = np.full(len(ops), -1, np.int64)
    position[order] = np.arange(len(order))
    return Schedule(order, position, index)


def _laid_out(ops: Operations, sequences: dict[int, Longs], computation: int, seen: set[int]) -> Iterator[Longs]:
    """The parts of a computation's order, and of those that it calls; one that is called twice is laid out once."""
    if computation in seen or computation not in sequences:
        return
    seen.add(computation)
    sequence, done = sequences[computation], 0
    calling = np.isin(ops.opcode[np.maximum(sequence, 0)], _CALLING) & (sequence >= 0)
    for place in np.flatnonzero(calling).tolist():
        yield sequence[done:place]
        row, done = int(sequence[place]), place
        called = ops.called[row]
        for inner in reversed(called) if ops.opcode[row] == b"while" else called:
            yield from _laid_out(ops, sequences, inner, seen)
    yield sequence[done:]


class Ids:
    """From instruction ids to rows; -1 where there is none."""

    def __init__(self, ops: Operations) -> None:
        field = ops.fields(np.arange(len(ops)), schema.INSTRUCTION_ID)[schema.INSTRUCTION_ID]
        ids = np.zeros(len(ops), np.int64)
        ids[field.row] = field.value
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]

    def __call__(self, wanted: Longs) -> Longs:
        if not len(self._sorted):
            return np.full(len(wanted), -1, np.int64)
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)


def aliased(proto: bytes) -> dict[int, int]:
    """The results that XLA puts into an argument's memory: number of the result -> that of the argument."""
    entries = schema.Module.FromString(proto).input_output_alias.entries
    return {
        (entry.output_shape_index or (0,))[0]: (entry.parameter_shape_index or (entry.parameter_number,))[0]
        for entry in entries
    }
