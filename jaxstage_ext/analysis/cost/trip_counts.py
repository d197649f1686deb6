"""Trip counts of while loops: from the compiler, else from a counter that runs from one constant to another."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from jaxstage_ext.ir.hlo.module import Module

_LITERAL, _TUPLE_INDEX, _BACKEND, _DIRECTION = 8, 13, 43, 63
_INTEGERS = {3: 8, 4: 32, 5: 64, 6: 32, 7: 64, 15: 8, 16: 16, 17: 16}
"""Fields of LiteralProto (xla_data.proto) that hold integers, and their bits: u8s, s32s, s64s, u32s, u64s, s8s, …"""
_SAME = (b"copy", b"bitcast", b"copy-done", b"opt-barrier")


class Loop(NamedTuple):
    """A loop's length; None where it is unknown. `inferred` where the compiler does not give it."""

    trips: int | None
    inferred: bool = False


def read(ops: Module) -> dict[int, Loop]:
    """The length of each while loop, by the row of its instruction."""
    rows = ops.rows(b"while")
    configs = ops.strings(ops.fields(rows, _BACKEND)[_BACKEND], len(rows))
    return {int(row): _length(ops, int(row), config) for row, config in zip(rows, configs, strict=True)}


def _length(ops: Module, row: int, config: bytes) -> Loop:
    try:
        return Loop(int(json.loads(config)["known_trip_count"]["n"]))
    except (ValueError, KeyError, TypeError):
        counted = _counted(ops, row)
        return Loop(counted, counted is not None)


def _counted(ops: Module, row: int) -> int | None:
    """Trips of `for (i = start; i < end; i += step)`; None for any other loop."""
    body, condition = ops.called[row][:2]
    test = int(ops.roots[condition])
    if ops.opcode[test] != b"compare" or _text(ops, test, _DIRECTION) != "LT":
        return None
    counter, end = _element(ops, ops.operands[test][0]), _constant(ops, ops.operands[test][1])
    given = _same(ops, ops.operands[row][0])
    if counter is None or end is None or ops.opcode[given] != b"tuple":
        return None
    start, step = _constant(ops, ops.operands[given][counter]), _step(ops, body, counter)
    if start is None or step is None or step <= 0:
        return None
    return max(0, -(-(end - start) // step))


def _step(ops: Module, body: int, counter: int) -> int | None:
    """How much the body adds to the counter in each iteration."""
    result = int(ops.roots[body])
    if ops.opcode[result] != b"tuple":
        return None
    added = _same(ops, ops.operands[result][counter])
    if ops.opcode[added] != b"add":
        return None
    left, right = ops.operands[added]
    for of, by in ((left, right), (right, left)):
        if _element(ops, of) == counter:
            return _constant(ops, by)
    return None


def _same(ops: Module, row: int) -> int:
    """The instruction that makes this value, looking through copies."""
    while ops.opcode[row] in _SAME and ops.operands[row] and ops.operands[row][0] >= 0:
        row = ops.operands[row][0]
    return row


def _element(ops: Module, row: int) -> int | None:
    """The index of this value in the tuple that the loop carries."""
    row = _same(ops, row)
    if ops.opcode[row] != b"get-tuple-element" or ops.opcode[ops.operands[row][0]] != b"parameter":
        return None
    index = ops.fields(np.array([row]), _TUPLE_INDEX)[_TUPLE_INDEX]
    return int(index.value[0]) if len(index.row) else 0


def _constant(ops: Module, row: int) -> int | None:
    row = _same(ops, row)
    if ops.opcode[row] != b"constant" or ops.shapes.elements[row] != 1:
        return None
    fields = ops.inside(ops.fields(np.array([row]), _LITERAL)[_LITERAL], *_INTEGERS)
    for number, bits in _INTEGERS.items():
        if not len(fields[number].row):
            continue
        if number in (3, 15, 16, 17):
            text = ops.strings(fields[number], 1)[0]
            return int.from_bytes(text, "little", signed=number in (15, 16))
        value = ops.lists(fields[number], 1)[0][0]
        return value - (1 << bits) if number == 4 and value >= 1 << (bits - 1) else value
    return None


def _text(ops: Module, row: int, field: int) -> str:
    return ops.strings(ops.fields(np.array([row]), field)[field], 1)[0].decode("utf-8", "replace")
