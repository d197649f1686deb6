"""Operations that the compiler made a loop of, though the program has none there, and those that are slow in one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.cost.rules import windows
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

_LEAST_TRIPS = 8
_BECOME_LOOPS = frozenset({
    "scatter", "scatter-add", "scatter_add", "scatter-mul", "scatter_mul", "scatter-min", "scatter_min", "scatter-max",
    "scatter_max", "gather", "dynamic_slice", "dynamic_update_slice", "sort", "top_k", "cumsum", "cumprod", "cummax",
    "cummin", "cumlogsumexp", "reduce_window", "reduce_window_sum", "reduce_window_max", "reduce_window_min",
    "select_and_scatter_add", "select_and_gather_add",
})  # fmt: skip
"""Primitives without a loop of their own."""


class SerialOperation(NamedTuple):
    """An operation that runs once per iteration."""

    row: int
    """Of the module: the loop."""
    primitive: str
    trips: int | None
    """None unknown."""
    inside: Longs
    """The instructions that run in it."""


def loops(module: Module) -> list[SerialOperation]:
    """The loops that stand for one operation of the program."""
    found = []
    trips = executions.trip_counts(module)
    for row in module.rows(b"while").tolist():
        primitive = _primitive(module, row)
        count = trips[row].trips
        if primitive in _BECOME_LOOPS and (count is None or count >= _LEAST_TRIPS):
            found.append(SerialOperation(row, primitive, count, instructions_inside(module, row)))
    return found


def slow_convolutions(module: Module) -> list[int]:
    """Convolutions in loops that XLA for CPU does not bring into the form that its library takes."""
    runs = executions.count(module)
    rows = module.rows(b"convolution")
    repeated = (runs.times[module.computation[rows]] > 1) | (runs.unknown[module.computation[rows]])
    return [row for row in rows[repeated].tolist() if not windows.is_channels_last(module, row)]


def is_of_derivative(module: Module, row: int) -> bool:
    """Whether differentiation made an instruction."""
    return "transpose(" in (module.scopes[module.scope[row]] if module.scope[row] >= 0 else "")


def _primitive(module: Module, row: int) -> str:
    return module.scopes[module.scope[row]].rpartition("/")[2] if module.scope[row] >= 0 else ""


def instructions_inside(module: Module, row: int) -> Longs:
    """The instructions that run in a loop or call, at any depth."""
    return np.flatnonzero(_held(module, row)[module.computation])


def _held(module: Module, row: int) -> npt.NDArray[np.bool_]:
    """The computations that an instruction runs, at any depth."""
    held = np.zeros(len(module.computations), bool)
    todo = [computation for computation in module.called[row] if computation >= 0]
    while todo:
        held[todo] = True
        owners = np.flatnonzero(held[module.computation])
        inner = {computation for owner in owners.tolist() for computation in module.called[owner] if computation >= 0}
        todo = [computation for computation in inner if not held[computation]]
    return held
