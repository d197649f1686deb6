"""The users of an instruction's result: the last in the schedule, and whether the backward pass is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

Bools = npt.NDArray[np.bool_]

_HANDS_ON = (
    b"bitcast", b"get-tuple-element", b"tuple", b"opt-barrier", b"copy", b"copy-start", b"copy-done", b"async-start",
    b"async-done", b"reshape", b"transpose", b"convert",
)  # fmt: skip
"""Opcodes that only pass a value on, in the same memory or another: who uses their result uses the value."""
_IN_PLACE = (b"bitcast", b"get-tuple-element", b"tuple", b"opt-barrier")
_ROUNDS = 64
TUPLE_INDEX = 13
FORWARD, BACKWARD = "jvp(", "transpose("


@dataclass(frozen=True, eq=False)
class Uses:
    """Per instruction."""

    last: Longs
    """Position of the last instruction that reads its result in place; its own where none does."""
    forward: Bools
    """It belongs to the forward pass of a derivative."""
    backward: Bools
    """It belongs to the backward pass."""
    saved: Bools
    """Made by the forward pass and read by the backward pass."""


def read(ops: Module, position: Longs, scopes: Sequence[str]) -> Uses:
    """The uses of each instruction; `scopes` are the name stacks that JAX writes into op_name."""
    n = len(ops)
    kinds = {scope: (FORWARD in scope and BACKWARD not in scope, BACKWARD in scope) for scope in set(scopes)}
    marks = np.array([kinds[scope] for scope in scopes], bool).reshape(n, 2)
    forward, backward = marks[:, 0], marks[:, 1] | _inside(ops, marks[:, 1])
    user, operand = ops.operands.owner, ops.operands.values
    user, operand = user[operand >= 0], operand[operand >= 0]
    last = position.copy()
    np.maximum.at(last, operand, position[user])
    _handed_on(last, ops, _IN_PLACE, user, operand)
    read_back = np.zeros(n, bool)
    hands_on = np.isin(ops.opcode[user], _HANDS_ON)
    np.logical_or.at(read_back, operand[~hands_on], backward[user[~hands_on]])
    _handed_on(read_back, ops, _HANDS_ON, user, operand)
    return Uses(last, forward, backward, forward & read_back)


def _inside(ops: Module, marked: Bools) -> Bools:
    """Fusions that contain a marked instruction."""
    holds = np.bincount(ops.computation, marked, len(ops.computations)) > 0
    rows = np.zeros(len(ops), bool)
    known = ops.called.values >= 0
    fusion = ops.opcode[ops.called.owner] == b"fusion"
    keep = known & fusion
    np.logical_or.at(rows, ops.called.owner[keep], holds[ops.called.values[keep]])
    return rows


def _handed_on(
    values: npt.NDArray[np.generic], ops: Module, opcodes: tuple[bytes, ...], user: Longs, operand: Longs
) -> None:
    """Give each value that is passed on the maximum of its users' values, in place."""
    through = np.isin(ops.opcode[user], opcodes)
    user, operand = user[through], operand[through]
    for _ in range(_ROUNDS):
        before = values[operand].copy()
        np.maximum.at(values, operand, values[user])
        if (values[operand] == before).all():
            return


def of_elements(ops: Module, uses: Uses, row: Longs, element: Longs) -> Longs:
    """The last use of one element of a tuple, or of the tuple where nothing extracts the element."""
    takers = ops.rows(b"get-tuple-element")
    field = ops.fields(takers, TUPLE_INDEX)[TUPLE_INDEX]
    index = np.zeros(len(takers), np.int64)
    index[field.row] = field.value
    source = ops.operands.at(0)[takers]
    last: dict[tuple[int, int], int] = {}
    for where, which, when in zip(source.tolist(), index.tolist(), uses.last[takers].tolist(), strict=True):
        last[where, which] = max(last.get((where, which), -1), when)
    whole = uses.last[row]
    last_uses = [last.get(key, -1) for key in zip(row.tolist(), element.tolist(), strict=True)]
    return np.where(np.array(last_uses, np.int64) >= 0, last_uses, whole) if len(row) else whole
