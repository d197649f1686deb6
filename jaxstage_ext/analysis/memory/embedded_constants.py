"""Constants inside fusions: XLA:CPU's libraries keep them in memory that its buffer assignment leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jaxstage_ext.analysis.cost.rules import traffic
from jaxstage_ext.analysis.memory.spaces import DEFAULT
from jaxstage_ext.ir.hlo.buffer_assignment import Allocations, Assignment, Values
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.lists import Lists
from jaxstage_ext.ir.wire.protowire import Longs


def rows(ops: Module, platform: str) -> Longs:
    """The constants inside fusions of a module that is compiled for a CPU; none on other platforms."""
    return traffic.embedded(ops) if platform == "cpu" else np.zeros(0, np.int64)


def size(ops: Module, platform: str) -> int:
    """How many bytes they take."""
    return int(ops.shapes.bytes[rows(ops, platform)].sum())


def added(assignment: Assignment, ops: Module, platform: str) -> Assignment:
    """The buffer assignment with these constants, each in an allocation of its own."""
    constants = rows(ops, platform)
    if not len(constants):
        return assignment
    values, allocations = assignment.values, assignment.allocations
    sizes, color = ops.shapes.bytes[constants], np.full(len(constants), DEFAULT, np.int64)
    first = len(values.size)
    return replace(
        assignment,
        values=Values(
            np.concatenate([values.instruction, ops.ids[constants]]),
            _longer(values.index, np.zeros(0, np.int64), 0, len(constants)),
            np.concatenate([values.size, sizes]),
            np.concatenate([values.color, color]),
        ),
        allocations=_with_constants(allocations, sizes, color, first),
    )


def _with_constants(allocations: Allocations, sizes: Longs, color: Longs, first: int) -> Allocations:
    n = len(sizes)
    no, yes = np.zeros(n, bool), np.ones(n, bool)
    return Allocations(
        size=np.concatenate([allocations.size, sizes]),
        color=np.concatenate([allocations.color, color]),
        parameter=np.concatenate([allocations.parameter, np.full(n, -1, np.int64)]),
        argument=np.concatenate([allocations.argument, no]),
        output=np.concatenate([allocations.output, no]),
        constant=np.concatenate([allocations.constant, yes]),
        local=np.concatenate([allocations.local, no]),
        tuples=np.concatenate([allocations.tuples, no]),
        values=_longer(allocations.values, np.arange(first, first + n), 1, n),
        offset=np.concatenate([allocations.offset, np.zeros(n, np.int64)]),
    )


def _longer(lists: Lists, values: Longs, each: int, n: int) -> Lists:
    """The lists with n more, of so many values each."""
    more = lists.start[-1] + each * np.arange(1, n + 1)
    return Lists(np.concatenate([lists.start, more]), np.concatenate([lists.values, values]))
