"""How often each computation of a module runs per run of the entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.loops import trip_counts as lengths
from jaxstage_ext.analysis.cost.loops.trip_counts import Loop
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.ir.wire.protowire import Longs

_RUNS = (b"fusion", b"call", b"while", b"conditional", b"async-start", b"custom-call")
"""Opcodes that run their computations as they are; others (reduce, sort, ...) apply theirs to scalars."""


@dataclass(frozen=True, eq=False)
class Executions:
    """Per computation.

    Attributes:
      times: loops counted as often as they are known to run; a loop of unknown length counts once.
      once: the body of every loop counted once, as in XLA's cost analysis.
      trips: per while instruction (row), its length.
      unknown: computations inside a loop of unknown length, or a branch that may not be taken.
    """

    times: npt.NDArray[np.float64]
    once: npt.NDArray[np.float64]
    trips: dict[int, Loop]
    unknown: npt.NDArray[np.bool_]


def count(ops: Module) -> Executions:
    """Walk the calls from the entry, callers first; a loop of unknown length counts once."""
    n = len(ops.computations)
    trips = lengths.read(ops)
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
