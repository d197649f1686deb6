"""Which instruction of the module that is shown each one of XLA's schedule is.

Passes after the scheduler rename, fuse and unwrap instructions; XLA leaves the name that an instruction had for the
scheduler in its metadata. Without that the name counts, else the opcode and operands.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo.module import BOOKKEEPING, Module
from jaxstage_ext.ir.wire.protowire import Longs

_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class ScheduleMatch:
    """`row`: of each instruction of the schedule's own module, that in the one that is shown; -1 where it lacks it."""

    scheduled: Module
    row: Longs


def match(scheduled: Module, shown: Module) -> ScheduleMatch:
    """The rows of instructions, each row at most once."""
    own, former = {name: row for row, name in enumerate(shown.names)}, _scheduling_names(shown)
    renamed = {row for name, row in former.items() if own.get(name) != row}
    rows = [former.get(name, -1) for name in scheduled.names]
    taken = set(rows)
    for at, name in enumerate(scheduled.names):
        found = own.get(name, -1)
        if rows[at] < 0 <= found and found not in taken and found not in renamed:
            rows[at] = found
            taken.add(found)
    _match_operands(scheduled, shown, rows)
    return ScheduleMatch(scheduled, np.array(rows, np.int64))


def _scheduling_names(module: Module) -> dict[bytes, int]:
    """Row by the name that the scheduler saw, where one instruction alone has it."""
    metadata = module.fields(np.arange(len(module)), schema.INSTRUCTION_METADATA)[schema.INSTRUCTION_METADATA]
    number = schema.METADATA_SCHEDULING_NAME
    names = module.strings(module.inside(metadata, number)[number], len(metadata.row))
    rows = metadata.row.tolist()
    pairs = [(name, row) for name, row in zip(names, rows, strict=True) if name]
    often = Counter(name for name, _ in pairs)
    return {name: row for name, row in pairs if often[name] == 1}


def _match_operands(scheduled: Module, shown: Module, rows: list[int]) -> None:
    """Match what is left by opcode, operands and dimensions, where one instruction alone has these."""
    left = [at for at, found in enumerate(rows) if found < 0 and scheduled.opcode[at] not in BOOKKEEPING]
    if not left:
        return
    taken = set(rows)
    free = [row for row in range(len(shown)) if row not in taken and shown.opcode[row] not in BOOKKEEPING]
    candidates: dict[Any, list[int]] = {}
    for row in free:
        candidates.setdefault(_likeness(shown, row, shown.operands[row]), []).append(row)
    for _ in range(_ROUNDS):
        alike: dict[Any, list[int]] = {}
        for at in left:
            operands = [rows[operand] if operand >= 0 else -1 for operand in scheduled.operands[at]]
            if rows[at] < 0 and operands and -1 not in operands:
                alike.setdefault(_likeness(scheduled, at, operands), []).append(at)
        for likeness, several in alike.items():
            found = candidates.get(likeness, [])
            if len(several) == len(found) == 1 and found[0] not in taken:
                rows[several[0]] = found[0]
                taken.add(found[0])


def _likeness(module: Module, row: int, operands: list[int]) -> Any:
    return bytes(module.opcode[row]), tuple(operands), tuple(module.shapes.sizes(row))
