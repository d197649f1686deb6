"""The instructions of a profile in which all devices of a program wait for each other."""

from __future__ import annotations

import re
from functools import cached_property

from jaxstage_ext.ir.hlo import collective_groups
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.profiling import recorded_modules
from jaxstage_ext.report.recording import RecordedModule, Recording

_KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all")
"""None of their results is whole before the last device has begun."""
_OPCODES = tuple(f"{kind}{half}".encode() for kind in _KINDS for half in ("", "-start", "-done"))
_NAMED = re.compile(rf"({'|'.join(_KINDS)})(-start|-done)?(\.\d+)*$")
UNKNOWN = 0


class BlockingOps:
    """Those of one recording.

    Attributes:
      leaves_out_groups: whether a collective was left out because it exchanges data within groups of devices.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.leaves_out_groups = False

    @cached_property
    def devices(self) -> dict[int, int]:
        """How many devices take part in each of them, by its index into `Recording.ops`; UNKNOWN without a module."""
        ops, found = self._recording.ops, dict[int, int]()
        known: dict[int, dict[str, int] | None] = {}
        for op, (module, name) in enumerate(zip(ops.module.tolist(), ops.name, strict=True)):
            if module not in known:
                known[module] = self._of_module(self._recording.modules[module]) if module >= 0 else None
            of_module = known[module]
            if of_module is None and _NAMED.match(name):
                found[op] = UNKNOWN
            elif of_module is not None and name in of_module:
                found[op] = of_module[name]
        return found

    def kind(self, op: int) -> str:
        """What a collective is: "all-reduce"."""
        return self._kinds.get(op) or self._recording.ops.name[op]

    @cached_property
    def _kinds(self) -> dict[int, str]:
        named = ((op, _NAMED.match(name)) for op, name in enumerate(self._recording.ops.name))
        return {op: match[1] for op, match in named if match is not None}

    def _of_module(self, recorded: RecordedModule) -> dict[str, int] | None:
        parsed = recorded_modules.parsed(recorded)
        if parsed is None:
            return None
        found = {}
        for row in parsed.rows(*_OPCODES).tolist():
            sizes = collective_groups.group_sizes(parsed.message(_begin(parsed, row)))
            if sizes is None or len(sizes) > 1:
                self.leaves_out_groups = True
            else:
                found[parsed.names[row].decode("utf-8", "replace")] = sizes[0] if sizes else UNKNOWN
        return found


def _begin(parsed: hlo.Module, row: int) -> int:
    """The instruction with the groups: of the end of an asynchronous one the instruction that it ends."""
    if not parsed.opcode[row].endswith(b"-done"):
        return row
    operands = parsed.operands.values[parsed.operands.owner == row].tolist()
    return next((operand for operand in operands if operand >= 0), row)
