"""The scalars that decide how often a loop runs, as HLO has them: constants, and elements of the tuple it carries."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.ir.hlo.module import Module

_LITERAL, _PARAMETER_NUMBER, _TUPLE_INDEX = 8, 9, 13
_FIELDS = (2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17)
"""Fields of LiteralProto (xla_data.proto): preds, u8s, s32s, s64s, u32s, u64s, f32s, f64s, s8s, u16s, s16s."""
_VARINTS = (2, 4, 5, 6, 7)
DTYPES: dict[int, Any] = {
    1: np.bool_,
    2: np.int8,
    3: np.int16,
    4: np.int32,
    5: np.int64,
    6: np.uint8,
    7: np.uint16,
    8: np.uint32,
    9: np.uint64,
    11: np.float32,
    12: np.float64,
}
"""By PrimitiveType (xla_data.proto)."""
_SAME = (b"copy", b"bitcast", b"copy-done", b"copy-start", b"opt-barrier", b"reshape")


def same(ops: Module, row: int) -> int:
    """The instruction that makes this value, looking through copies."""
    while ops.opcode[row] in _SAME and ops.operands[row] and ops.operands[row][0] >= 0:
        row = ops.operands[row][0]
    return row


def parameter_number(ops: Module, row: int) -> int:
    """Which parameter of its computation an instruction is, from 0."""
    field = ops.fields(np.array([row]), _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
    return int(field.value[0]) if len(field.row) else 0


def first_tuple(ops: Module, row: int) -> list[int] | None:
    """What a while instruction carries into its first iteration; None where that is not made as a tuple.

    On CPUs the loop may stand alone in a computation that is called once with the tuple.
    """
    given = same(ops, ops.operands[row][0])
    while ops.opcode[given] == b"parameter":
        callers = ops.called.owner[ops.called.values == ops.computation[given]]
        if len(callers) != 1 or ops.opcode[callers[0]] != b"call":
            return None
        given = same(ops, ops.operands[int(callers[0])][parameter_number(ops, given)])
    return ops.operands[given] if ops.opcode[given] == b"tuple" else None


def element(ops: Module, row: int) -> int | None:
    """The index of this value in the tuple that the loop carries."""
    row = same(ops, row)
    if ops.opcode[row] != b"get-tuple-element" or ops.opcode[ops.operands[row][0]] != b"parameter":
        return None
    index = ops.fields(np.array([row]), _TUPLE_INDEX)[_TUPLE_INDEX]
    return int(index.value[0]) if len(index.row) else 0


def constant(ops: Module, row: int) -> Any:
    """The value of a constant scalar, as a NumPy scalar of its dtype; None for anything else."""
    row = same(ops, row)
    dtype = DTYPES.get(int(ops.shapes.element_type[row]))
    if ops.opcode[row] != b"constant" or ops.shapes.elements[row] != 1 or dtype is None:
        return None
    fields = ops.inside(ops.fields(np.array([row]), _LITERAL)[_LITERAL], *_FIELDS)
    number = next((number for number in _FIELDS if len(fields[number].row)), 0)
    if number in _VARINTS:
        value = ops.lists(fields[number], 1)[0][0]
        return np.array(value & (2**64 - 1), np.uint64).astype(dtype)[()]
    return np.frombuffer(ops.strings(fields[number], 1)[0], dtype)[0] if number else None
