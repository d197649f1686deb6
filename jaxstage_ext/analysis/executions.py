"""How often each computation of a module runs when its entry runs once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis import trips as lengths
from jaxstage_ext.analysis.trips import Loop
from jaxstage_ext.ir.hlo_ops import Operations

_RUNS = (b"fusion", b"call", b"while", b"conditional", b"async-start", b"custom-call")
"""Opcodes whose computations run as they stand; others (reduce, sort, ...) apply theirs to scalars."""


@dataclass(frozen=True, eq=False)
class Executions:
    """Per computation.

    Attributes:
      times: with loops as often as they are known to run; a loop of unknown length counts once.
      once: with the body of every loop once, as XLA's cost analysis counts.
      trips: per while instruction (row), its length.
      unknown: computations inside a loop of unknown length, or a branch that may not be taken.
    """

    times: npt.NDArray[np.float64]
    once: npt.NDArray[np.float64]
    trips: dict[int, Loop]
    unknown: npt.NDArray[np.bool_]


def count(ops: Operations) -> Executions:
    """Walk the calls from the entry; a loop of unknown length counts once."""
    n = len(ops.computations)
    trips = lengths.read(ops)
    times, once, unknown = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    if n:
        times[ops.entry] = once[ops.entry] = 1
    calling = _calling(ops)
    for computation in _callers_first(ops, calling):
        for row in calling[computation]:
            trip = trips[row].trips if row in trips else 1
            for place, called in enumerate(ops.called[row]):
                if called < 0:
                    continue
                is_condition = ops.opcode[row] == b"while" and place == 1
                factor = 1 if trip is None else trip + (1 if is_condition else 0)
                times[called] += times[computation] * factor
                once[called] += once[computation]
                unknown[called] |= unknown[computation] or trip is None
    return Executions(times, once, trips, unknown)


def _calling(ops: Operations) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in ops.computations]
    for row in ops.rows(*_RUNS).tolist():
        rows[int(ops.computation[row])].append(row)
    return rows


def _callers_first(ops: Operations, calling: list[list[int]]) -> list[int]:
    """Computations such that each comes after all that call it."""
    order: list[int] = []
    seen: set[int] = set()
    stack: list[tuple[int, bool]] = [(ops.entry, False)] if ops.computations else []
    while stack:
        computation, done = stack.pop()
        if done:
            order.append(computation)
        elif computation not in seen:
            seen.add(computation)
            stack.append((computation, True))
            stack += [(c, False) for row in calling[computation] for c in ops.called[row] if c >= 0 and c not in seen]
    return order[::-1]
