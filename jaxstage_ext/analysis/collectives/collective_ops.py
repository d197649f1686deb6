"""The collectives of a module: their instructions, where they start and end, and what runs meanwhile.

One collective may be several instructions: a start and a done; an instruction inside an asynchronous computation or a
fusion; or, on TPUs, an instruction that is repeated in the fusions that carry it out in pieces between
AsyncCollectiveStart and AsyncCollectiveDone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.ir.hlo.module import COLLECTIVE_KINDS, Module
from jaxstage_ext.ir.hlo.shapes import OPAQUE, TOKEN
from jaxstage_ext.ir.hlo.sharding_field import Collective as Message
from jaxstage_ext.ir.wire.protowire import Longs

_STARTS = {kind + b"-start": kind for kind in (b"all-reduce", b"all-gather", b"collective-permute")}
_DONES = (b"all-reduce-done", b"all-gather-done", b"collective-permute-done", b"async-done")
_WRAPPERS = (b"fusion", b"async-start", b"call")
_QUIET = (
    b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast", b"after-all", b"partition-id",
    b"replica-id", b"copy-start", b"copy-done", b"slice-start", b"slice-done", b"async-update", b"opt-barrier",
)  # fmt: skip
_PLAIN = (b"bitcast", b"reshape", b"copy")
_LARGE = (b"fusion", b"custom-call", b"dot", b"convolution", b"while", b"call", b"conditional", b"reduce")
"""Opcodes that may be much work even where the result is a scalar."""
_PARAMETER_NUMBER, _BACKEND, _ATTRIBUTES = 9, 43, 68


@dataclass(frozen=True)
class CollectiveOp:
    """One collective."""

    row: int
    """The collective instruction."""
    kind: str
    """"all-reduce", ..."""
    start: int
    done: int
    """`start`, `done`: the scheduled instructions where it begins and ends; the same one where it blocks."""
    parts: tuple[int, ...]
    """Scheduled instructions that carry it out along with other work."""
    message: Any
    """Its groups."""
    synchronous: bool
    """Whether the backend runs it in one go, whatever start and done are."""


def any_in(ops: Module) -> bool:
    """Whether a module has collectives."""
    return bool(np.isin(ops.opcode, (*COLLECTIVE_KINDS, *_STARTS)).any())


class CollectiveOps:
    """Finds the collectives of a module; `position` is the schedule, None where there is none."""

    def __init__(self, ops: Module, position: Longs | None) -> None:
        self._ops, self._position = ops, position

    @property
    def is_scheduled(self) -> bool:
        return self._position is not None

    @cached_property
    def _caller(self) -> Longs:
        """Per computation the fusion, call or asynchronous instruction that runs it; -1 for any other."""
        ops = self._ops
        caller = np.full(len(ops.computations), -1, np.int64)
        wraps = np.isin(ops.opcode[ops.called.owner], _WRAPPERS) & (ops.called.values >= 0)
        caller[ops.called.values[wraps]] = ops.called.owner[wraps]
        return caller

    @cached_property
    def _users(self) -> dict[int, list[int]]:
        users: dict[int, list[int]] = {}
        for user, operand in zip(self._ops.operands.owner.tolist(), self._ops.operands.values.tolist(), strict=True):
            users.setdefault(operand, []).append(user)
        return users

    @cached_property
    def collectives(self) -> list[CollectiveOp]:
        """All collectives, in the order of the proto."""
        chains: dict[Any, list[tuple[int, Any]]] = {}
        for row in self._ops.rows(*COLLECTIVE_KINDS, *_STARTS).tolist():
            message = Message.FromString(self._ops.message(row))
            chains.setdefault(self._chain(row, message), []).append((row, message))
        return [self._collective(rows) for rows in chains.values()]

    @cached_property
    def _ends(self) -> list[int]:
        return [row for op in self.collectives for row in (op.start, op.done)]

    def _chain(self, row: int, message: Any) -> Any:
        """A key that the pieces of one collective share; the row itself where it is in one piece."""
        caller = int(self._caller[self._ops.computation[row]])
        if caller < 0 or b"async_collective_fusion_config" not in self._text(row, _BACKEND):
            return row
        chain = self._text(row, _ATTRIBUTES)
        return int(self._ops.computation[caller]), message.channel_id, chain, self._ops.opcode[row]

    def _collective(self, rows: list[tuple[int, Any]]) -> CollectiveOp:
        outer = sorted({self._outermost(row) for row, _ in rows}, key=self._at)
        row, message = min(rows, key=lambda pair: self._at(self._outermost(pair[0])))
        opcode = bytes(self._ops.opcode[row])
        kind = "reduce-scatter" if self._is_scattered(row) else _STARTS.get(opcode, opcode).decode()
        start = outer[0]
        done = outer[-1] if len(outer) > 1 else self._done(start)
        return CollectiveOp(row, kind, start, done, tuple(outer[1:-1]), message, self._blocks(row, start))

    def _is_scattered(self, row: int) -> bool:
        """Whether a TPU fusion reduces and keeps only this device's slice, which sends as much as a reduce-scatter."""
        computation = int(self._ops.computation[row])
        root, caller = int(self._ops.roots[computation]), int(self._caller[computation])
        fused = caller >= 0 and self._ops.opcode[caller] == b"fusion" and self._ops.opcode[row] == b"all-reduce"
        return bool(fused and self._ops.opcode[root] == b"dynamic-slice" and row in self._ops.operands[root][:1])

    def _outermost(self, row: int) -> int:
        """The scheduled instruction that a row is part of."""
        for _ in range(16):
            caller = int(self._caller[self._ops.computation[row]])
            if caller < 0 or self._ops.opcode[caller] == b"call":
                break
            row = caller
        return row

    def _done(self, start: int) -> int:
        row = start
        for _ in range(1000):
            after = [user for user in self._users.get(row, ()) if self._ops.opcode[user] in (*_DONES, b"async-update")]
            if not after:
                return row if self._ops.opcode[row] in _DONES else start
            row = after[0]
            if self._ops.opcode[row] in _DONES:
                return row
        return start

    def _blocks(self, row: int, start: int) -> bool:
        """Whether it is an asynchronous pair that a GPU backend runs in one go."""
        return any(_is_sync(self._text(instruction, _BACKEND)) for instruction in {row, start})

    @cached_property
    def accompanied(self) -> frozenset[int]:
        """The collectives, by row, during which another one is in flight."""
        accompanied: set[int] = set()
        last: dict[int, CollectiveOp] = {}
        for op in sorted(self.collectives, key=lambda op: self._at(op.start)) if self.is_scheduled else ():
            before = last.get(computation := int(self._ops.computation[op.start]))
            if before is not None and self._at(op.start) < self._at(before.done):
                accompanied |= {op.row, before.row}
            if before is None or self._at(op.done) > self._at(before.done):
                last[computation] = op
        return frozenset(accompanied)

    def between(self, collective: CollectiveOp) -> list[int]:
        """The instructions that work while it runs: those scheduled between start and done."""
        if self._position is None or collective.synchronous:
            return []
        first, last = self._at(collective.start), self._at(collective.done)
        if first < 0 or last <= first:
            return []
        here = np.flatnonzero(self._ops.computation == self._ops.computation[collective.start])
        place = self._position[here]
        inside = here[(place > first) & (place < last)]
        opcode = self._ops.opcode[inside]
        quiet = np.isin(opcode, (*_QUIET, *COLLECTIVE_KINDS, *_STARTS, *_DONES, b"async-start")) | np.isin(
            inside, self._ends
        )
        quiet |= (self._ops.shapes.elements[inside] <= 1) & ~np.isin(opcode, _LARGE)
        inside = inside[~quiet]
        return [int(row) for row in inside[np.argsort(self._position[inside])]]

    def _at(self, row: int) -> int:
        return int(self._position[row]) if self._position is not None else row

    def _text(self, row: int, field: int) -> bytes:
        """The raw content of a field of a collective, or of what runs it."""
        return self._texts[field][row]

    @cached_property
    def _texts(self) -> dict[int, dict[int, bytes]]:
        """By field and row; a message at a time would take most of a pod's tables."""
        found = self._ops.rows(*COLLECTIVE_KINDS, *_STARTS).tolist()
        rows = sorted({*found, *map(self._outermost, found)})
        fields = self._ops.fields(np.array(rows, np.int64), _BACKEND, _ATTRIBUTES)
        return {
            number: dict(zip(rows, self._ops.strings(field, len(rows)), strict=True))
            for number, field in fields.items()
        }

    def computation(self, collective: CollectiveOp) -> int:
        return int(self._ops.computation[collective.row])

    def given(self, collective: CollectiveOp) -> int:
        """Bytes of all operands, per device."""
        return sum(int(self._ops.shapes.bytes[row]) for row in self.operands(collective))

    def elements(self, collective: CollectiveOp) -> int:
        """Elements of all operands, per device."""
        return sum(int(self._ops.shapes.elements[row]) for row in self.operands(collective))

    def inputs(self, collective: CollectiveOp) -> list[int]:
        """The arrays that go in, each of those that the compiler joined into one."""
        return [part for row in self.operands(collective) for part in self._joined(self._outside(row, collective))]

    def _outside(self, row: int, collective: CollectiveOp) -> int:
        """The operand behind a parameter of the computation around a collective."""
        if self._ops.opcode[row] != b"parameter" or collective.row == collective.start:
            return row
        given, number = self._ops.operands[collective.start], self._number(row)
        return given[number] if number < len(given) and given[number] >= 0 else row

    def _number(self, parameter: int) -> int:
        """Which parameter of its computation an instruction is."""
        field = self._ops.fields(np.array([parameter]), _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
        return int(field.value[0]) if len(field.row) else 0

    def _joined(self, row: int) -> list[int]:
        ops = self._ops
        for _ in range(8):
            called = ops.called[row] if ops.opcode[row] == b"fusion" else []
            root = ops.opcode[ops.roots[called[0]]] if called and called[0] >= 0 else ops.opcode[row]
            if root == b"concatenate":
                return [self._plain(part) for part in ops.operands[row]]
            if ops.opcode[row] not in _PLAIN or not ops.operands[row]:
                break
            row = ops.operands[row][0]
        return [row]

    def _plain(self, row: int) -> int:
        for _ in range(8):
            if self._ops.opcode[row] not in _PLAIN or not self._ops.operands[row]:
                break
            row = self._ops.operands[row][0]
        return row

    def shapes(self, collective: CollectiveOp) -> frozenset[tuple[int, ...]]:
        """The shapes of the only array that goes in and of what comes out, without dimensions of size one."""
        return self.shapes_given(collective) and self.shapes_given(collective) | {self._dims(collective.row)}

    def shapes_given(self, collective: CollectiveOp) -> frozenset[tuple[int, ...]]:
        """The shape of the only array that goes in, without dimensions of size one; empty for several arrays."""
        rows = self.operands(collective)
        return frozenset({self._dims(rows[0])} if len(rows) == 1 else ())

    def _dims(self, row: int) -> tuple[int, ...]:
        return tuple(size for size in self._ops.shapes.sizes(row) if size != 1)

    def operands(self, collective: CollectiveOp) -> list[int]:
        """The arrays that go in."""
        operands = self._ops.operands[collective.row]
        in_place = collective.kind == "collective-permute" and len(operands) == 4
        wanted = 1 if in_place or collective.kind == "ragged-all-to-all" else len(operands)
        kinds = self._ops.shapes.element_type
        return [row for row in operands[:wanted] if row >= 0 and kinds[row] not in (TOKEN, OPAQUE)]


def _is_sync(config: bytes) -> bool:
    try:
        settings = json.loads(config).get("collective_backend_config", {})
    except (ValueError, AttributeError):
        return False
    return bool(isinstance(settings, dict) and settings.get("is_sync"))
