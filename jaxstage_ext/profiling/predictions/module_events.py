"""Which instruction of which module each event of device work is, by the modules that the recording holds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jaxstage_ext.ir.hlo.module import COLLECTIVE_KINDS, Module
from jaxstage_ext.profiling import recorded_modules
from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.intervals import Numbers
from jaxstage_ext.profiling.predictions.independent_work import ModuleUsers, UnhidingWork
from jaxstage_ext.report.recording import NONE, Recording


@dataclass(frozen=True, eq=False)
class ModuleEvents:
    """The events of device work as instructions of one module; `row` is NONE for those of others."""

    module: Module
    work: DeviceWork
    row: Numbers
    users: ModuleUsers
    _unhiding: dict[int, UnhidingWork] = field(default_factory=dict)

    def after(self, event: int) -> UnhidingWork:
        """The computation after a collective that neither needs its result nor hides a collective yet."""
        device = int(self.work.device[event])
        if device not in self._unhiding:
            self._unhiding[device] = UnhidingWork.read(self.work, device, self.row)
        return self._unhiding[device].after(self.work, event, self.users, self.module, int(self.row[event]))

    def kind(self, event: int) -> str:
        """The kind of collective that an event is or runs, such as "all-gather"; "" where that is not one kind."""
        left, seen, kinds = [int(self.row[event])], set[int](), set[bytes]()
        while left:
            row = left.pop()
            opcode = bytes(self.module.opcode[row]).removesuffix(b"-start").removesuffix(b"-done")
            kinds.update({opcode} & set(COLLECTIVE_KINDS))
            called = {one for one in self.module.called[row] if one >= 0} - seen
            seen |= called
            left += np.flatnonzero(np.isin(self.module.computation, list(called))).tolist() if called else []
        return kinds.pop().decode() if len(kinds) == 1 else ""


def module_events(recording: Recording, work: DeviceWork) -> dict[int, ModuleEvents]:
    """Those of each module that the recording holds, by its number there; damaged ones are left out."""
    found = {}
    op = recording.events.op[work.event]
    for number in np.unique(recording.ops.module).tolist():
        module = recorded_modules.parsed(recording.modules[number]) if number >= 0 else None
        if module is not None:
            row = np.append(_rows(recording, number, module), NONE)[op]
            found[number] = ModuleEvents(module, work, row, ModuleUsers.read(module))
    return found


def _rows(recording: Recording, number: int, module: Module) -> Numbers:
    """The instruction of each op of the recording."""
    of = {name: row for row, name in enumerate(module.names)}
    pairs = zip(recording.ops.name, recording.ops.module.tolist(), strict=True)
    rows = [of.get(name.encode("utf-8", "replace"), NONE) if own == number else NONE for name, own in pairs]
    return np.array(rows, np.int64)
