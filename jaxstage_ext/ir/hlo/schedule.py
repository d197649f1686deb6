"""The order in which a module's instructions run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

_CALLING = (b"call", b"while", b"conditional", b"async-start")
"""Opcodes whose computations XLA lays out before the instruction; a loop's condition before its body."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """The instructions in the order in which they run, called computations laid out where they are called.

    Each instruction appears once: the body of a loop is not repeated.
    """

    order: Longs
    """The instruction at each position."""
    position: Longs
    """The position of each instruction, -1 for those inside fusions and reducers."""

    def __len__(self) -> int:
        return len(self.order)


def read(module: Module) -> Schedule | None:
    """The schedule of a module; None where XLA has not scheduled it."""
    sequences = _sequences(module)
    if module.entry not in sequences:
        return None
    parts = _laid_out(module, sequences, module.entry, set())
    order = np.concatenate([np.zeros(0, np.int64), *parts])
    order = order[order >= 0]
    position = np.full(len(module), -1, np.int64)
    position[order] = np.arange(len(order))
    return Schedule(order, position)


def places(module: Module) -> Longs | None:
    """The place of each instruction in the schedule of its own computation, -1 for those that are not scheduled.

    None where XLA has not scheduled the module.
    """
    if not module.header.HasField("schedule"):
        return None
    place = np.full(len(module), -1, np.int64)
    for sequence in _sequences(module).values():
        known = sequence >= 0
        place[sequence[known]] = np.flatnonzero(known)
    return place


def _sequences(module: Module) -> dict[int, Longs]:
    """The instructions of each scheduled computation in their order, -1 for an unknown id."""
    computation = module.computation_of_id
    return {
        computation[entry.key]: module.rows_of_ids(np.array(entry.value.instruction_ids, np.int64))
        for entry in module.header.schedule.sequences
        if entry.key in computation
    }


def _laid_out(module: Module, sequences: dict[int, Longs], computation: int, seen: set[int]) -> Iterator[Longs]:
    """The parts of a computation's order and of those it calls; a computation called twice is laid out once."""
    if computation in seen or computation not in sequences:
        return
    seen.add(computation)
    sequence, done = sequences[computation], 0
    calling = np.isin(module.opcode[np.maximum(sequence, 0)], _CALLING) & (sequence >= 0)
    for place in np.flatnonzero(calling).tolist():
        yield sequence[done:place]
        row, done = int(sequence[place]), place
        called = module.called[row]
        for inner in reversed(called) if module.opcode[row] == b"while" else called:
            yield from _laid_out(module, sequences, inner, seen)
    yield sequence[done:]
