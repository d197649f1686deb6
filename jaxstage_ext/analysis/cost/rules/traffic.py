"""Bytes that each HLO instruction reads and writes, once, without what it calls as computations of their own.

Conventions: HloCostAnalysis of XLA: operands are read and results written in full, but a slice or gather reads what it
gives, an update writes what it is given, and a fusion reads of each operand what its members read of it. What nobody
takes of a custom call's tuple is the workspace of a library, which counts as nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TUPLE
from jaxstage_ext.ir.wire.protowire import Longs

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
_PARAMETER_NUMBER, _TARGET = 9, 28
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


_VIEWS = frozenset((
    b"Sharding", b"SPMDFullToShardShape", b"SPMDShardToFullShape", b"AllocateBuffer", b"CreateBuffer", b"PinToDevice",
    b"UnpinFromDevice", b"LayoutConstraint", b"annotate_device_placement", b"AssumeGatherIndicesInBound", b"X64Split",
    b"X64SplitLow", b"X64SplitHigh", b"X64Combine", b"AsyncCollectiveStart", b"AsyncCollectiveDone", b"ConcatBitcast",
    b"RiscBitcast",
))  # fmt: skip
"""Targets of custom calls that move nothing: markers of the partitioner, and names that libtpu gives to memory."""


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
    free, first = np.isin(ops.opcode, FREE) | _is_view(ops), ops.operands.at(0)
    read, written = np.where(free, 0.0, _operands(ops, size * share)), np.where(free, 0.0, size * share)
    rows = ops.rows(*_SLICES, *_UPDATES)
    read[rows] -= _sizes(size * share, first[rows])
    rows = ops.rows(*_SLICES)
    read[rows] += size[rows] * _sizes(share, first[rows])
    written[parts >= 0] = size[parts[parts >= 0]] * share[parts >= 0]
    workspaces, taken = _with_workspaces(ops), ops.rows(b"get-tuple-element")
    taken = taken[first[taken] >= 0]
    of_calls = np.bincount(first[taken], (size * share)[taken], len(ops))
    written[workspaces] = np.where(free, 0.0, of_calls)[workspaces]
    done = ops.rows(*_DONE)
    done = done[first[done] >= 0]
    written[first[done]] = size[done] * share[done]
    fusions, called = _fused(ops)
    fused, which = np.unique(called, return_inverse=True)
    read[fusions] = (_parameters(ops, met * share, fused) + _constants(ops, met * share)[fused])[which]
    owner, output, amount = _outputs(ops, size, parts, fused)
    written[fusions] = np.bincount(owner, amount * _sizes(share, output), len(fused))[which]
    inside = np.isin(ops.computation, fused)
    read[inside] = written[inside] = 0
    return read, written


def _is_view(ops: Module) -> npt.NDArray[np.bool_]:
    rows = ops.rows(b"custom-call")
    targets = ops.strings(ops.fields(rows, _TARGET)[_TARGET], len(rows))
    result = np.zeros(len(ops), bool)
    result[rows] = [target in _VIEWS for target in targets]
    return result


def _with_workspaces(ops: Module) -> Longs:
    """The custom calls whose result is a tuple: what nobody takes of it is a library's scratch memory."""
    rows = ops.rows(b"custom-call")
    return np.asarray(rows[(ops.shapes.element_type[rows] == TUPLE) & ~np.isin(rows, ops.roots)], np.int64)


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
    part = parts[through(ops, output)]
    return owner, output, np.where(part >= 0, _sizes(size, part), _sizes(size, output))


def through(ops: Module, rows: Longs) -> Longs:
    """The instructions that make these arrays, looking through bitcasts and into fusions."""
    first, called = ops.operands.at(0), ops.called.at(0)
    for _ in range(len(ops)):
        is_view = (ops.opcode[rows] == b"bitcast") & (first[rows] >= 0)
        is_fusion = (ops.opcode[rows] == b"fusion") & (called[rows] >= 0)
        if not (is_view | is_fusion).any():
            break
        inside = np.where(is_fusion, ops.roots[np.maximum(called[rows], 0)], rows)
        rows = np.where(is_view, first[rows], inside)
    return rows


def _parameters(ops: Module, met: Floats, fused: Longs) -> Floats:
    """The bytes of its parameters that each fused computation reads."""
    place = np.full(len(ops.computations), -1, np.int64)
    place[fused] = np.arange(len(fused))
    rows = ops.rows(b"parameter")
    rows = rows[place[ops.computation[rows]] >= 0]
    return np.bincount(place[ops.computation[rows]], met[rows], len(fused))


def embedded(ops: Module) -> Longs:
    """The arrays that stand as constants inside fusions, which read them as they do their parameters."""
    rows, (_, called) = ops.rows(b"constant"), _fused(ops)
    return rows[np.isin(ops.computation[rows], called) & (ops.shapes.elements[rows] > 1)]


def _constants(ops: Module, met: Floats) -> Floats:
    """The bytes of the constants that each computation holds and reads, those of fusions inside it among them."""
    rows = embedded(ops)
    total = np.bincount(ops.computation[rows], met[rows], len(ops.computations))
    if total.any():
        fusions, called = _fused(ops)
        for row, inner in sorted(zip(fusions.tolist(), called.tolist(), strict=True), key=lambda pair: pair[1]):
            total[ops.computation[row]] += total[inner]  # computations are listed after those that they call
    return total


def read_of_each(ops: Module) -> Floats:
    """How many bytes of each instruction's result its users read together."""
    return _met(ops, ops.shapes.padded.astype(np.float64))


def used(ops: Module, edges: Longs, size: Floats) -> Floats:
    """How many bytes the user of each of these edges (places in `operands.values`) reads by it."""
    user, value = ops.operands.owner[edges], ops.operands.values[edges]
    is_first = edges == ops.operands.start[user]
    sliced, updated = is_first & np.isin(ops.opcode[user], _SLICES), is_first & np.isin(ops.opcode[user], _UPDATES)
    return np.select([sliced, updated], [size[user], 0.0], size[value])


def inner_parameters(ops: Module) -> Longs:
    """For each edge into a fusion, the parameter inside that stands for it; -1 for other edges."""
    rows = ops.rows(b"parameter")
    field = ops.fields(rows, _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
    number = np.zeros(len(rows), np.int64)
    number[field.row] = field.value
    width = int(np.max(number, initial=0)) + 1
    known = dict(zip((ops.computation[rows] * width + number).tolist(), rows.tolist(), strict=True))
    owner = ops.operands.owner
    result = np.full(len(owner), -1, np.int64)
    into = np.flatnonzero(ops.opcode[owner] == b"fusion")
    place, called = into - ops.operands.start[owner[into]], ops.called.at(0)[owner[into]]
    keys = np.where((called >= 0) & (place < width), called * width + place, -1)
    result[into] = [known.get(key, -1) for key in keys.tolist()]
    return result


def _handed_out(ops: Module) -> tuple[Longs, Longs]:
    """The results of fusions inside fusions, and the fusion whose users read them."""
    fusions, called = _fused(ops)
    inside = np.isin(ops.computation[fusions], called)
    return ops.roots[called[inside]], fusions[inside]


def _met(ops: Module, size: Floats) -> Floats:
    """How many bytes the users of each instruction read: all, or the slices they take.

    Bitcasts are looked through; a fusion reads what its members read of the parameter.
    """
    user, operand, inner = ops.operands.owner, ops.operands.values, inner_parameters(ops)
    first = (np.arange(len(user)) == ops.operands.start[user]) & (operand >= 0)
    user_op = ops.opcode[user]
    fused = (operand >= 0) & (inner >= 0)
    bitcast, sliced = first & (user_op == b"bitcast"), first & np.isin(user_op, _SLICES)
    updated = first & np.isin(user_op, _UPDATES)
    whole = (operand >= 0) & ~bitcast & ~sliced & ~updated & ~fused
    known = np.bincount(operand[sliced], size[user[sliced]], len(ops))
    known[operand[whole]] = size[operand[whole]]
    given, holders = _handed_out(ops)
    of = np.concatenate([operand[bitcast], operand[fused], given])
    by = np.concatenate([user[bitcast], inner[fused], holders])
    met = np.minimum(known, size)
    while len(of):
        further = np.minimum(known + np.bincount(of, met[by], len(ops)), size)
        if (further == met).all():
            break
        met = further
    return met
