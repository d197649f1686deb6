"""Trip counts of loops by running their counters: the scalars that decide how often the body runs, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost.loops import loop_values
from jaxstage_ext.ir.hlo.module import Module

MOST_TRIPS = 5_000
"""Iterations after which the length is given up as unknown."""
_DIRECTION = 63


class UnknownScalarError(Exception):
    """A value that is not made of constants and counters alone."""


def trips(ops: Module, row: int) -> int | None:
    """How often a while instruction runs its body; None where its constants do not say."""
    body, condition = ops.called[row][:2]
    start, step = loop_values.first_tuple(ops, row), int(ops.roots[body])
    if start is None or ops.opcode[step] != b"tuple":
        return None
    carried = Carried(ops, start, ops.operands[step])
    try:
        with np.errstate(all="ignore"):
            return next(
                (time for time in range(MOST_TRIPS) if not carried.value(int(ops.roots[condition]), time)), None
            )
    except (UnknownScalarError, RecursionError):
        return None


Enclosing = tuple[int, Any] | None
"""The fusion that holds an instruction, and what holds that one."""


class Carried:
    """The elements of the tuple that a loop carries, before each iteration.

    What an instruction is, is read from the module once, not in each iteration.
    """

    def __init__(self, ops: Module, start: list[int], step: list[int]) -> None:
        self._ops, self._start, self._step = ops, start, step
        self._known: dict[tuple[int, int], Any] = {}
        self._constant = cache(partial(_constant, ops))
        self._operation = cache(partial(_operation, ops))
        self._index = cache(partial(loop_values.element, ops))
        self._parameter = cache(partial(loop_values.parameter_number, ops))

    def element(self, index: int, time: int) -> Any:
        """An element before iteration `time`, the first being 0."""
        if (index, time) not in self._known:
            value = self.value(self._step[index], time - 1) if time else self._constant(self._start[index])
            self._known[index, time] = value
        return self._known[index, time]

    def value(self, row: int, time: int, inside: Enclosing = None) -> Any:
        """What a scalar instruction of the body or the condition gives in iteration `time`."""
        ops, row = self._ops, loop_values.same(self._ops, row)
        opcode = bytes(ops.opcode[row])
        if opcode == b"constant":
            return self._constant(row)
        if opcode == b"parameter" and inside is not None:
            return self.value(ops.operands[inside[0]][self._parameter(row)], time, inside[1])
        if opcode == b"fusion":
            return self.value(int(ops.roots[ops.called[row][0]]), time, (row, inside))
        index = self._index(row) if inside is None else None
        if index is not None:
            return self.element(index, time)
        if ops.shapes.elements[row] != 1 or (apply := self._operation(row)) is None:
            raise UnknownScalarError(row)
        return apply(*(self.value(operand, time, inside) for operand in ops.operands[row]))


def _constant(ops: Module, row: int) -> Any:
    """The value of a constant. Raises UnknownScalarError."""
    if (value := loop_values.constant(ops, row)) is None:
        raise UnknownScalarError(row)
    return value


def _operation(ops: Module, row: int) -> Callable[..., Any] | None:
    """The function of an instruction's operands, in its own dtype; None for what is not computed here."""
    opcode = bytes(ops.opcode[row])
    if opcode == b"compare":
        field = ops.fields(np.array([row]), _DIRECTION)[_DIRECTION]
        return _COMPARED.get(ops.strings(field, 1)[0].decode("utf-8", "replace"))
    dtype = loop_values.DTYPES.get(int(ops.shapes.element_type[row]))
    if dtype is None or (apply := _OPERATIONS.get(opcode)) is None:
        return None
    return lambda *values: np.asarray(apply(*values)).astype(dtype)[()]


def _divide(left: Any, right: Any) -> Any:
    """Integers towards zero; by zero the loop's length is not ours to say."""
    if isinstance(left, np.floating):
        return left / right
    if right == 0:
        raise UnknownScalarError(right)
    return abs(int(left)) // abs(int(right)) * (-1 if (left < 0) != (right < 0) else 1)


def _shift(left: Any, right: Any, is_arithmetic: bool) -> Any:
    bits = 8 * left.dtype.itemsize
    if not 0 <= right < bits:
        raise UnknownScalarError(right)
    return int(left) >> int(right) if is_arithmetic else (int(left) & ((1 << bits) - 1)) >> int(right)


def _remainder(left: Any, right: Any) -> Any:
    if right == 0:
        raise UnknownScalarError(right)
    return np.fmod(left, right)


_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}
_OPERATIONS: Mapping[bytes, Callable[..., Any]] = {
    b"add": np.add,
    b"subtract": np.subtract,
    b"multiply": np.multiply,
    b"divide": _divide,
    b"remainder": _remainder,
    b"minimum": np.minimum,
    b"maximum": np.maximum,
    b"and": np.bitwise_and,
    b"or": np.bitwise_or,
    b"xor": np.bitwise_xor,
    b"shift-left": np.left_shift,
    b"shift-right-arithmetic": lambda left, right: _shift(left, right, True),
    b"shift-right-logical": lambda left, right: _shift(left, right, False),
    b"negate": np.negative,
    b"not": np.invert,
    b"abs": np.abs,
    b"sign": np.sign,
    b"convert": lambda value: value,
    b"broadcast": lambda value: value,
    b"select": lambda chosen, yes, no: yes if chosen else no,
    b"clamp": lambda low, value, high: min(max(low, value), high),
}
