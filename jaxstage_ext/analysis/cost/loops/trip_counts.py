"""Trip counts of while loops: from the compiler, else from a counter that begins and ends with constants."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.cost.loops import scalar_loops
from jaxstage_ext.analysis.cost.loops.loop_values import constant, element, first_tuple, same
from jaxstage_ext.ir.hlo.module import Module

_BACKEND, _DIRECTION = 43, 63
_FLIPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE"}


class Loop(NamedTuple):
    """A loop's length; None where it is unknown. `inferred` where the compiler does not give it."""

    trips: int | None
    inferred: bool = False


class Counter(NamedTuple):
    """`for (i = start; i <direction> end; i += step)`, and the least and the most that i can be."""

    start: int
    direction: str
    end: int
    step: int
    least: int
    most: int


def read(ops: Module) -> dict[int, Loop]:
    """The length of each while loop, by the row of its instruction."""
    rows = ops.rows(b"while")
    configs = ops.strings(ops.fields(rows, _BACKEND)[_BACKEND], len(rows))
    return {int(row): _length(ops, int(row), config) for row, config in zip(rows, configs, strict=True)}


def _length(ops: Module, row: int, config: bytes) -> Loop:
    try:
        return Loop(int(json.loads(config)["known_trip_count"]["n"]))
    except (ValueError, KeyError, TypeError):
        counter = _counter(ops, row)
        counted = trips(counter) if counter is not None else scalar_loops.trips(ops, row)
        return Loop(counted, counted is not None)


def trips(counter: Counter) -> int | None:
    """How often the body runs; None for a counter that passes its end, or the range of its dtype, without a stop."""
    start, direction, end, step = counter[:4]
    if direction in ("GT", "GE"):
        mirrored = counter._replace(
            start=-start, direction="LT" if direction == "GT" else "LE", end=-end, step=-step,
            least=-counter.most, most=-counter.least,
        )  # fmt: skip
        return trips(mirrored)
    if direction == "NE":
        count = (end - start) // step
        return count if count >= 0 and start + count * step == end else None
    beyond = end + (direction == "LE")
    if start >= beyond:
        return 0
    count = -(-(beyond - start) // step)
    return count if step > 0 and start + count * step <= counter.most else None


def _counter(ops: Module, row: int) -> Counter | None:
    """The counter of a loop that adds a constant to it; None for any other loop."""
    body, condition = ops.called[row][:2]
    test = int(ops.roots[condition])
    if ops.opcode[test] != b"compare" or (direction := _text(ops, test, _DIRECTION)) not in _FLIPPED:
        return None
    left, right = ops.operands[test]
    if element(ops, left) is None:
        left, right, direction = right, left, _FLIPPED[direction]
    index, end, given = element(ops, left), constant(ops, right), first_tuple(ops, row)
    if index is None or not isinstance(end, np.integer) or given is None:
        return None
    start, step = constant(ops, given[index]), _step(ops, body, index)
    if start is None or not step:
        return None
    limits = np.iinfo(end.dtype)
    return Counter(int(start), direction, int(end), step, int(limits.min), int(limits.max))


def _step(ops: Module, body: int, index: int) -> int | None:
    """How much the body adds to an element of the tuple in each iteration."""
    result = int(ops.roots[body])
    if ops.opcode[result] != b"tuple":
        return None
    changed = same(ops, ops.operands[result][index])
    if ops.opcode[changed] not in (b"add", b"subtract"):
        return None
    left, right = ops.operands[changed]
    is_sum = ops.opcode[changed] == b"add"
    for of, by in ((left, right), (right, left)) if is_sum else ((left, right),):
        if element(ops, of) == index and (step := constant(ops, by)) is not None:
            return int(step) if is_sum else -int(step)
    return None


def _text(ops: Module, row: int, field: int) -> str:
    return ops.strings(ops.fields(np.array([row]), field)[field], 1)[0].decode("utf-8", "replace")
