"""Copies that run beside other work: between which instructions, and how much of their time that work can hide.

A copy takes the bandwidth of the device's memory, which other work uses too. An instruction hides as much of it as the
time for which it needs that memory less than it lasts: all that it lasts where compute bounds it, nothing where memory
does. Work between start and end hides what it can, which keeps the rest a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import schedule
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

Floats = npt.NDArray[np.float64]
_CROSS_PROGRAM = 80
_MOVES = (b"copy", b"slice", b"dynamic-slice", b"dynamic-update-slice")
"""What XLA runs asynchronously to move data; any other asynchronous computation counts as work."""
_STARTS = (b"copy-start", b"async-start")
_DONES = (b"copy-done", b"async-done")
_CALLING = (b"while", b"conditional", b"call")
_MOST_UPDATES = 1000


class AsyncCopy(NamedTuple):
    """One copy that runs beside other work."""

    rows: tuple[int, ...]
    """The instructions that move its bytes."""
    meanwhile: tuple[int, ...]
    """The instructions between its start and its end, in the order of the schedule."""
    is_outside: bool = False
    """Whether it runs before the program (a cross-program prefetch), or ends in another run of its computation, so that
    all of it may be hidden."""


def read(ops: Module) -> list[AsyncCopy]:
    """The asynchronous copies of a module; none where XLA has not scheduled it."""
    position = schedule.places(ops)
    starts = [row for row in ops.rows(*_STARTS).tolist() if _moved(ops, row)]
    if position is None or not starts:
        return []
    is_before, users = np.zeros(len(starts), bool), _users(ops)
    is_before[ops.fields(np.array(starts, np.int64), _CROSS_PROGRAM)[_CROSS_PROGRAM].row] = True
    return [_copy(ops, row, position, users, bool(first)) for row, first in zip(starts, is_before, strict=True)]


def hidden(copies: Sequence[AsyncCopy], seconds: Floats, memory: Floats) -> Floats:
    """Of each instruction, the seconds of its copy that other work hides.

    `seconds` is how long each instruction lasts at least, and `memory` for how long of it the device's memory is used,
    both of all runs; unknown work hides nothing.
    """
    result = np.zeros(len(seconds))
    slack = np.maximum(np.nan_to_num(seconds) - np.nan_to_num(memory), 0.0)
    moving = [row for copy in copies for row in copy.rows]
    slack[moving] = 0.0
    for copy in sorted(copies, key=lambda copy: len(copy.meanwhile)):
        whole = float(np.nansum(seconds[list(copy.rows)]))
        left = 0.0 if copy.is_outside else whole
        for row in copy.meanwhile if left else ():
            taken = min(slack[row], left)
            slack[row], left = slack[row] - taken, left - taken
        if whole:
            result[list(copy.rows)] = seconds[list(copy.rows)] * (1 - left / whole)
    return np.nan_to_num(result)


def _moved(ops: Module, start: int) -> tuple[int, ...]:
    """The instructions that move the bytes; none where it is not a copy."""
    if ops.opcode[start] == b"copy-start":
        return (start,)
    called = [computation for computation in ops.called[start] if computation >= 0]
    inside = np.flatnonzero(np.isin(ops.computation, called))
    work = inside[~np.isin(ops.opcode[inside], (b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast"))]
    return tuple(work.tolist()) if len(work) and np.isin(ops.opcode[work], _MOVES).all() else ()


def _users(ops: Module) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for user, operand in zip(ops.operands.owner.tolist(), ops.operands.values.tolist(), strict=True):
        users.setdefault(operand, []).append(user)
    return users


def _copy(ops: Module, start: int, position: Longs, users: dict[int, list[int]], is_before: bool) -> AsyncCopy:
    done = start
    for _ in range(_MOST_UPDATES):
        after = [user for user in users.get(done, ()) if ops.opcode[user] in (*_DONES, b"async-update")]
        if not after or ops.opcode[done] in _DONES:
            break
        done = after[0]
    ends = ops.opcode[done] in _DONES and position[done] > position[start]
    between = tuple(_between(ops, start, done, position)) if ends else ()
    return AsyncCopy(_moved(ops, start), between, is_before or not ends)


def _between(ops: Module, start: int, done: int, position: Longs) -> Iterator[int]:
    here = np.flatnonzero(ops.computation == ops.computation[start])
    inside = here[(position[here] > position[start]) & (position[here] < position[done])]
    yield from _unrolled(ops, position, inside[np.argsort(position[inside])].tolist())


def _unrolled(ops: Module, position: Longs, rows: Sequence[int]) -> Iterator[int]:
    """Instructions, with those of the computations that loops, branches and calls among them run."""
    for row in rows:
        yield row
        if ops.opcode[row] in _CALLING:
            inside = np.flatnonzero(np.isin(ops.computation, [c for c in ops.called[row] if c >= 0]))
            yield from _unrolled(ops, position, inside[np.argsort(position[inside], kind="stable")].tolist())
