"""Whether a result can be written over an argument while it is computed, element by element."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.hlo.module import Module

_MOVING = (
    b"slice", b"pad", b"concatenate", b"reverse", b"transpose", b"gather", b"dynamic-slice", b"reduce",
    b"reduce-window", b"dot", b"convolution", b"broadcast", b"reshape", b"custom-call", b"sort",
)  # fmt: skip
"""Opcodes whose results read an operand at other places than they write."""
_VIEWS = (b"bitcast", b"copy", b"tuple", b"get-tuple-element")
_PARAMETER_NUMBER = 9
_DEEPEST = 8


def reads_elsewhere(module: Module, parameter: int, result: int) -> bool:
    """Whether what computes a result of the entry reads a parameter at other places than it writes.

    XLA then copies a donated parameter before it writes over it. False where other instructions lie between.
    """
    root = int(module.roots[module.entry])
    producer = module.operands[root][result] if module.opcode[root] == b"tuple" else root
    return _reads(module, parameter, producer, 0)


def _reads(module: Module, value: int, producer: int, depth: int) -> bool:
    while depth < _DEEPEST and module.opcode[producer] in _VIEWS and module.operands[producer]:
        producer, depth = module.operands[producer][0], depth + 1
    operands = module.operands[producer]
    if value not in operands:
        return False
    if module.opcode[producer] not in (b"fusion", b"call") or not module.called[producer]:
        return bool(np.isin(module.opcode[producer], _MOVING))
    computation = module.called[producer][0]
    inside = np.flatnonzero(module.computation == computation)
    given = inside[module.opcode[inside] == b"parameter"]
    field = module.fields(given, _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
    number = np.zeros(len(given), np.int64)
    number[field.row] = field.value
    own = [int(row) for row, at in zip(given, number, strict=True) if operands[at] == value]
    if module.opcode[producer] == b"call":
        return any(_reads(module, row, int(module.roots[computation]), depth + 1) for row in own)
    seen = set(own)
    for row in inside.tolist():
        if seen.isdisjoint(module.operands[row]):
            continue
        if np.isin(module.opcode[row], _MOVING):
            return True
        if module.opcode[row] not in (b"dynamic-update-slice", b"scatter"):
            seen.add(row)
    return False
