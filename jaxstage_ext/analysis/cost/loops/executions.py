"""How often each computation of a module runs per run of the entry.

Trip counts of while loops are the compiler's, else those of a counter that begins and ends with constants.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.loops import scalar_loops
from jaxstage_ext.analysis.cost.loops.loop_values import constant, element, first_tuple, same
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.ir.wire.protowire import Longs

_RUNS = (b"fusion", b"call", b"while", b"conditional", b"async-start", b"custom-call")
"""Opcodes that run their computations as they are; others (reduce, sort, ...) apply theirs to scalars."""


@dataclass(frozen=True, eq=False)
class Executions:
    """Per computation."""

    times: npt.NDArray[np.float64]
    """Loops counted as often as they are known to run; a loop of unknown length counts once."""
    once: npt.NDArray[np.float64]
    """The body of every loop counted once, as in XLA's cost analysis."""
    trips: dict[int, Loop]
    """Per while instruction (row), its length."""
    unknown: npt.NDArray[np.bool_]
    """Computations inside a loop of unknown length, or a branch that may not be taken."""


def count(ops: Module) -> Executions:
    """Walk the calls from the entry, callers first; a loop of unknown length counts once."""
    n = len(ops.computations)
    trips = trip_counts(ops)
    times, once, unknown = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    if n:
        times[ops.entry] = once[ops.entry] = 1
    caller, called, factor, endless = _calls(ops, trips)
    edges = lists(caller, np.arange(len(caller)), n)
    for now in _callers_first(ops.entry, edges, called) if n else ():
        source, target = caller[now], called[now]
        np.add.at(times, target, times[source] * factor[now])
        np.add.at(once, target, once[source])
        np.logical_or.at(unknown, target, unknown[source] | endless[now])
    return Executions(times, once, trips, unknown)


def _calls(ops: Module, trips: dict[int, Loop]) -> tuple[Longs, Longs, npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """(calling computation, called one, how often at each run, whether that is unknown), ordered by the caller."""
    owner, called = ops.called.owner, ops.called.values
    place = np.arange(len(owner)) - ops.called.start[owner]
    keep = np.isin(ops.opcode[owner], _RUNS) & (called >= 0) & ~applied_to_scalars(ops)[called]
    owner, called, place = owner[keep], called[keep], place[keep]
    factor, endless = np.ones(len(owner)), np.zeros(len(owner), bool)
    for i in np.flatnonzero(ops.opcode[owner] == b"while").tolist():
        loop = trips[int(owner[i])].trips
        is_condition = place[i] == 1
        factor[i], endless[i] = 1 if loop is None else loop + int(is_condition), loop is None
    order = np.argsort(ops.computation[owner], kind="stable")
    return ops.computation[owner][order], called[order], factor[order], endless[order]


def applied_to_scalars(ops: Module) -> npt.NDArray[np.bool_]:
    """Which computations compare or combine scalars: a library call, such as TopK, applies these to many elements."""
    is_scalar = (ops.shapes.rank == 0) & (ops.shapes.elements == 1)
    parameters = ops.rows(b"parameter")
    every, arrays = (
        np.bincount(ops.computation[rows], minlength=len(ops.computations))
        for rows in (parameters, parameters[~is_scalar[parameters]])
    )
    callers = ops.called.owner[(ops.called.values >= 0) & (ops.opcode[ops.called.owner] == b"custom-call")]
    by_library = np.zeros(len(ops.computations), bool)
    by_library[[computation for row in callers.tolist() for computation in ops.called[row]]] = True
    return np.asarray(by_library & (every > 0) & (arrays == 0))


def _callers_first(entry: int, edges: Lists, called: Longs) -> list[Longs]:
    """The calls that are reached from the entry, in rounds: those of a computation after all that lead to it."""
    waits = np.bincount(called[_reached(entry, edges, called)], minlength=len(edges.count))
    rounds, ready = [], np.array([entry], np.int64)
    while len(now := _of(edges, ready)):
        rounds.append(now)
        np.subtract.at(waits, called[now], 1)
        ready = np.unique(called[now])
        ready = ready[waits[ready] == 0]
    return rounds


def _reached(entry: int, edges: Lists, called: Longs) -> Longs:
    """The calls that are made when the entry runs."""
    seen = np.zeros(len(edges.count), bool)
    reached, fresh = [], np.array([entry], np.int64)
    while len(fresh):
        seen[fresh] = True
        reached.append(_of(edges, fresh))
        fresh = np.unique(called[reached[-1]])
        fresh = fresh[~seen[fresh]]
    return np.concatenate(reached)


def _of(edges: Lists, computations: Longs) -> Longs:
    """The calls that some computations make."""
    many = edges.count[computations]
    first = np.repeat(edges.start[computations] - (np.cumsum(many) - many), many)
    return edges.values[first + np.arange(int(many.sum()))]


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


def trip_counts(ops: Module) -> dict[int, Loop]:
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
