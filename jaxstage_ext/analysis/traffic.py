"""Bytes that each HLO instruction reads and writes, once, without what it calls as computations of their own.

Conventions: HloCostAnalysis of XLA: operands are read and results written in full, but a slice or gather reads what it
gives, an update writes what it is given, and a fusion reads of each operand what its members read of it.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo_ops import Lists, Operations, lists

Floats = npt.NDArray[np.float64]

FREE = (
    b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast", b"while", b"call", b"conditional",
    b"after-all", b"partition-id", b"replica-id", b"async-start", b"async-update", b"async-done", b"all-reduce-done",
    b"all-gather-done", b"collective-permute-done", b"copy-done", b"opt-barrier", b"add-dependency", b"domain",
    b"get-dimension-size", b"send-done", b"recv-done", b"recv",
)  # fmt: skip
"""Opcodes that move nothing themselves."""
_SLICES = (b"slice", b"dynamic-slice", b"gather")
_UPDATES = {b"dynamic-update-slice": 1, b"scatter": -1}
"""Opcodes that write a part of their first operand, and which operand that part is."""


def count(ops: Operations) -> tuple[Floats, Floats]:
    """(bytes read, bytes written) of each instruction; zero inside fusions, whose own row has them."""
    size = ops.shapes.padded.astype(np.float64)
    operand = ops.operands.values
    whole = np.bincount(ops.operands.owner, np.where(operand >= 0, size[operand], 0), len(ops))
    free = np.isin(ops.opcode, FREE)
    read, written = np.where(free, 0, whole), np.where(free, 0, size)
    for row in ops.rows(*_SLICES):
        others = ops.operands[row][1:]
        read[row] = size[row] + size[others].sum()
    for opcode, place in _UPDATES.items():
        for row in ops.rows(opcode):
            read[row], written[row] = _update(ops, size, int(row), place)
    users = lists(*_users(ops), len(ops))
    for row in ops.rows(b"fusion"):
        read[row], written[row] = _fusion(ops, size, users, int(row))
    inside = np.isin(ops.computation, ops.called.values[np.isin(ops.called.owner, ops.rows(b"fusion"))])
    read[inside] = written[inside] = 0
    return read, written


def _users(ops: Operations) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    known = ops.operands.values >= 0
    operand, user = ops.operands.values[known], ops.operands.owner[known]
    order = np.argsort(operand, kind="stable")
    return operand[order], user[order]


def _update(ops: Operations, size: Floats, row: int, place: int) -> tuple[float, float]:
    operands = ops.operands[row]
    part = float(size[operands[place]])
    return float(size[operands[1:]].sum()), part


def _fusion(ops: Operations, size: Floats, users: Lists, row: int) -> tuple[float, float]:
    fused = ops.called[row][0]
    root = int(ops.roots[fused])
    outputs = ops.operands[root] if ops.opcode[root] == b"tuple" else [root]
    read = 0.0
    written = 0.0
    for output in outputs:
        target = _through(ops, output)
        place = _UPDATES.get(ops.opcode[target])
        written += float(size[ops.operands[target][place]] if place is not None else size[output])
    for parameter in _parameters(ops, fused):
        read += _read_of(ops, size, users, parameter)
    return read, written


def _through(ops: Operations, row: int) -> int:
    """The instruction whose array this is, bitcasts passed over."""
    while ops.opcode[row] == b"bitcast" and ops.operands[row] and ops.operands[row][0] >= 0:
        row = ops.operands[row][0]
    return row


def _parameters(ops: Operations, computation: int) -> list[int]:
    return _by_computation(ops)[computation]


_known: dict[int, tuple[Operations, dict[int, list[int]]]] = {}


def _by_computation(ops: Operations) -> dict[int, list[int]]:
    known = _known.get(id(ops))
    if known is not None and known[0] is ops:
        return known[1]
    found: dict[int, list[int]] = defaultdict(list)
    for row in ops.rows(b"parameter").tolist():
        found[int(ops.computation[row])].append(row)
    _known.clear()
    _known[id(ops)] = (ops, found)
    return found


def _read_of(ops: Operations, size: Floats, users: Lists, row: int) -> float:
    """What the members of a fusion read of a parameter."""
    total = 0.0
    for user in users[row]:
        opcode, operands = ops.opcode[user], ops.operands[user]
        if opcode in _SLICES and operands[0] == row:
            total += float(size[user])
        elif opcode in _UPDATES and operands[0] == row:
            continue
        elif opcode == b"bitcast":
            total += _read_of(ops, size, users, user)
        else:
            return float(size[row])
        if total >= size[row]:
            return float(size[row])
    return total
