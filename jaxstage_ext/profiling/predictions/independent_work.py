"""Which work after a collective does not need its result, as the graph of its module proves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.profiling.analysis.device_work import ACTIVITIES, Activity, DeviceWork
from jaxstage_ext.profiling.analysis.intervals import Numbers, complement, overlap

CONTROL_PREDECESSORS = 37
"""The field of XLA's HloInstructionProto with the ids of instructions that must have run before."""
_COMPUTE = ACTIVITIES.index(Activity.COMPUTE)


@dataclass(frozen=True, eq=False)
class ModuleUsers:
    """The instructions that must run after each instruction of a module: its users, and those that wait for it."""

    of: Lists

    @classmethod
    def read(cls, module: Module) -> ModuleUsers:
        """The users of all instructions, by operands and control dependencies."""
        every = np.arange(len(module), dtype=np.int64)
        before = module.lists(module.fields(every, CONTROL_PREDECESSORS)[CONTROL_PREDECESSORS], len(module))
        user = np.concatenate([module.operands.owner, before.owner])
        used = np.concatenate([module.operands.values, module.rows_of_ids(before.values)])
        known = used >= 0
        order = np.argsort(used[known], kind="stable")
        return cls(lists(used[known][order], user[known][order], len(module)))

    def need(self, row: int) -> npt.NDArray[np.bool_]:
        """Whether each instruction needs the result of this one, directly or through others; it does itself."""
        needs = np.zeros(len(self.of.start) - 1, bool)
        needs[row], left = True, [row]
        while left:
            for user in self.of[left.pop()]:
                if not needs[user]:
                    needs[user] = True
                    left.append(user)
        return needs


@dataclass(frozen=True, eq=False)
class UnhidingWork:
    """The computation of a timeline that hides no collective yet, by instruction.

    Attributes:
      event: of the device work.    row: of each its instruction in the module; -1 for none.
      seconds: picoseconds of each in which no collective runs.
    """

    event: Numbers
    row: Numbers
    seconds: Numbers

    @classmethod
    def read(cls, work: DeviceWork, device: int, row: Numbers) -> UnhidingWork:
        """That of a device; `row` is the instruction of each event of device work."""
        event = np.flatnonzero((work.device == device) & (work.activity == _COMPUTE) & (row >= 0))
        start, end = work.nesting.start[event], work.nesting.end[event]
        if not len(event):
            return cls(event, row[event], start)
        free = complement(work.of(device, Activity.COLLECTIVE), int(np.min(start)), int(np.max(end)))
        return cls(event, row[event], overlap(start, end, free))

    def after(self, work: DeviceWork, collective: int, users: ModuleUsers, module: Module, row: int) -> UnhidingWork:
        """The part that begins after a collective, in its computation, and does not need its result."""
        later = work.nesting.start[self.event] >= work.nesting.end[collective]
        same = module.computation[self.row] == module.computation[row]
        kept = later & same & ~users.need(row)[self.row] & (self.seconds > 0)
        return UnhidingWork(self.event[kept], self.row[kept], self.seconds[kept])
