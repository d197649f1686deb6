"""Bytes that each HLO instruction reads and writes, once, without what it calls as computations of their own.

Conventions: HloCostAnalysis of XLA: operands are read and results written in full, but a slice or gather reads what it
gives, an update writes what it is given, and a fusion reads of each operand what its members read of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.protowire import Longs

Floats = npt.NDArray[np.float64]

FREE = (
    b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast", b"while", b"call", b"conditional",
    b"after-all", b"partition-id", b"replica-id", b"async-start", b"async-update", b"async-done", b"all-reduce-done",
    b"all-gather-done", b"collective-permute-done", b"copy-done", b"opt-barrier", b"add-dependency", b"domain",
    b"get-dimension-size", b"send-done", b"recv-done", b"recv",
)  # fmt: skip
"""Opcodes that move nothing themselves."""
_SLICES = (b"slice", b"dynamic-slice", b"gather")
_DONE = (b"copy-done", b"all-gather-done", b"collective-permute-done")
"""Opcodes whose result the matching start writes; the tuple of a start also holds its operand."""
_UPDATES = (b"dynamic-update-slice", b"scatter")
"""Opcodes that write a part of their first operand."""


class Traffic(NamedTuple):
    """Bytes per instruction and run, read and written.

    Of both together, `host` are those in the host's memory, and `near` those that are neither there nor in the device's
    own (HBM): on the chip.
    """

    read: Floats
    written: Floats
    near: Floats
    host: Floats


def count(ops: Module) -> Traffic:
    """The bytes that each instruction moves; zero inside fusions, whose own row counts them."""
    size = ops.shapes.padded.astype(np.float64)
    parts, met = _parts(ops), _met(ops, size)
    read, written = _moved(ops, size, np.ones(len(ops)), parts, met)
    near, host = (
        np.add(*_moved(ops, size, amount / np.maximum(size, 1), parts, met)) if amount.any() else np.zeros(len(ops))
        for amount in (ops.shapes.apart - ops.shapes.host, ops.shapes.host)
    )
    return Traffic(read, written, near, host)


def _moved(ops: Module, size: Floats, share: Floats, parts: Longs, met: Floats) -> tuple[Floats, Floats]:
    """(bytes read, bytes written), each times the share of the instruction whose memory they are in."""
    free, first = np.isin(ops.opcode, FREE), ops.operands.at(0)
    read, written = np.where(free, 0.0, _operands(ops, size * share)), np.where(free, 0.0, size * share)
    rows = ops.rows(*_SLICES, *_UPDATES)
    read[rows] -= _sizes(size * share, first[rows])
    rows = ops.rows(*_SLICES)
    read[rows] += size[rows] * _sizes(share, first[rows])
    written[parts >= 0] = size[parts[parts >= 0]] * share[parts >= 0]
    done = ops.rows(*_DONE)
    done = done[first[done] >= 0]
    written[first[done]] = size[done] * share[done]
    fusions, called = _fused(ops)
    fused, which = np.unique(called, return_inverse=True)
    read[fusions] = _parameters(ops, met * share, fused)[which]
    owner, output, amount = _outputs(ops, size, parts, fused)
    written[fusions] = np.bincount(owner, amount * _sizes(share, output), len(fused))[which]
    inside = np.isin(ops.computation, fused)
    read[inside] = written[inside] = 0
    return read, written


def _operands(ops: Module, size: Floats) -> Floats:
    return np.bincount(ops.operands.owner, _sizes(size, ops.operands.values), len(ops)).astype(np.float64)


def _sizes(size: Floats, rows: Longs) -> Floats:
    """The size of each row; 0 for row -1."""
    return np.where(rows >= 0, size[rows], 0) if len(size) else np.zeros(len(rows))


def _parts(ops: Module) -> Longs:
    """For each update, the operand that it writes into its first operand; -1 for other instructions."""
    last = np.full(len(ops), -1, np.int64)
    has = ops.operands.count > 0
    last[has] = ops.operands.values[ops.operands.start[1:][has] - 1]
    in_place = np.where(ops.opcode == b"dynamic-update-slice", ops.operands.at(1), -1)
    return np.where(ops.opcode == b"scatter", last, in_place)


def _fused(ops: Module) -> tuple[Longs, Longs]:
    """Fusions and their computations."""
    rows = ops.rows(b"fusion")
    called = ops.called.at(0)[rows]
    return rows[called >= 0], called[called >= 0]


def outputs(ops: Module, fused: Longs) -> tuple[Longs, Longs, Floats]:
    """(place of the fused computation, the value that it gives, bytes that it writes of it) for each result."""
    return _outputs(ops, ops.shapes.padded.astype(np.float64), _parts(ops), fused)


def _outputs(ops: Module, size: Floats, parts: Longs, fused: Longs) -> tuple[Longs, Longs, Floats]:
    """The same by known sizes; of an array that is updated in place, only the updated part is written."""
    root = ops.roots[fused]
    several = ops.opcode[root] == b"tuple"
    place = np.full(len(ops), -1, np.int64)
    place[root[several]] = np.flatnonzero(several)
    of = place[ops.operands.owner]
    output = np.concatenate([root[~several], ops.operands.values[of >= 0]])
    owner = np.concatenate([np.flatnonzero(~several), of[of >= 0]])
    part = parts[_through(ops, output)]
    return owner, output, np.where(part >= 0, _sizes(size, part), _sizes(size, output))


def _through(ops: Module, rows: Longs) -> Longs:
    """The instructions that make these arrays, looking through bitcasts."""
    first = ops.operands.at(0)
    while (more := (ops.opcode[rows] == b"bitcast") & (first[rows] >= 0)).any():
        rows = np.where(more, first[rows], rows)
    return rows


def _parameters(ops: Module, met: Floats, fused: Longs) -> Floats:
    """The bytes of its parameters that each fused computation reads."""
    place = np.full(len(ops.computations), -1, np.int64)
    place[fused] = np.arange(len(fused))
    rows = ops.rows(b"parameter")
    rows = rows[place[ops.computation[rows]] >= 0]
    return np.bincount(place[ops.computation[rows]], met[rows], len(fused))


def read_of_each(ops: Module) -> Floats:
    """How many bytes of each instruction's result its users read together."""
    return _met(ops, ops.shapes.padded.astype(np.float64))


def used(ops: Module, edges: Longs, size: Floats) -> Floats:
    """How many bytes the user of each of these edges (places in `operands.values`) reads by it."""
    user, value = ops.operands.owner[edges], ops.operands.values[edges]
    is_first = edges == ops.operands.start[user]
    sliced, updated = is_first & np.isin(ops.opcode[user], _SLICES), is_first & np.isin(ops.opcode[user], _UPDATES)
    return np.select([sliced, updated], [size[user], 0.0], size[value])


def _met(ops: Module, size: Floats) -> Floats:
    """How many bytes the users of each instruction read: all, or the slices they take, looking through bitcasts."""
    user, operand = ops.operands.owner, ops.operands.values
    first = (np.arange(len(user)) == ops.operands.start[user]) & (operand >= 0)
    user_op = ops.opcode[user]
    bitcast, sliced = first & (user_op == b"bitcast"), first & np.isin(user_op, _SLICES)
    updated = first & np.isin(user_op, _UPDATES)
    whole = (operand >= 0) & ~bitcast & ~sliced & ~updated
    known = np.bincount(operand[sliced], size[user[sliced]], len(ops))
    known[operand[whole]] = size[operand[whole]]
    of, by, met = operand[bitcast], user[bitcast], np.minimum(known, size)
    while len(of):
        further = np.minimum(known + np.bincount(of, met[by], len(ops)), size)
        if (further == met).all():
            break
        met = further
    return met
