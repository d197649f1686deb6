"""To which instruction each part of a module's work belongs: the member of a fusion that does it.

FLOPs belong to the member that computes them. Bytes that a fusion reads or writes belong to the members that use its
parameters or make its results, by `fused_traffic`; what no member reads or makes stays with the fusion. The time of a
fusion, a lower bound, is divided as its bytes are, or as its FLOPs are where compute bounds it. The parts of a fusion
add up to it, and every total by line, scope, opcode or dtype is a sum of these parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import fused_traffic
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attribution:
    """The parts of a module's work, per run."""

    owner: Longs
    """The instruction of the schedule that the part is of."""
    member: Longs
    """The one that does it, or the owner itself."""
    flops: Floats
    """NaN unknown."""
    transcendentals: Floats
    read: Floats
    written: Floats

    @property
    def moved(self) -> Floats:
        return self.read + self.written

    def shares(self, rows: Longs, values: Floats, by_flops: npt.NDArray[np.bool_]) -> Floats:
        """Each part's share of a figure of its owner: by bytes, or by FLOPs where `by_flops`; 0 where there is none."""
        n = int(np.max(self.owner, initial=-1)) + 1
        value, computed = np.zeros(n), np.zeros(n, bool)
        known = rows < n
        value[rows[known]], computed[rows[known]] = values[known], by_flops[known]
        work = np.nan_to_num(self.flops) + self.transcendentals
        weight = np.where(computed[self.owner] & (self._whole(work) > 0), work, self.moved)
        weight = np.where(self._whole(weight) > 0, weight, 1.0)
        return np.asarray(value[self.owner] * weight / self._whole(weight))

    def _whole(self, weight: Floats) -> Floats:
        """For each part, the weight of all parts of its owner."""
        return np.asarray(np.bincount(self.owner, weight)[self.owner])


@dataclass(frozen=True)
class InstructionWork:
    """FLOPs, transcendentals and bytes of each instruction and run; a fusion has those of its members."""

    flops: Floats
    transcendentals: Floats
    read: Floats
    written: Floats


def read(ops: Module, shown: Longs, work: InstructionWork) -> Attribution:
    """The parts of the instructions `shown`, which are those of the schedule."""
    is_fusion = (ops.opcode[shown] == b"fusion") & (ops.called.at(0)[shown] >= 0)
    plain, fusions = shown[~is_fusion], shown[is_fusion]
    columns = (work.flops, work.transcendentals, work.read, work.written)
    of_plain: list[npt.NDArray[Any]] = [plain, plain, *(column[plain] for column in columns)]
    parts = [of_plain, *([_itself(fusions), *_fused_parts(ops, fusions, work)] if len(fusions) else [])]
    return _joined([np.concatenate(column) for column in zip(*parts, strict=True)], len(ops))


def _itself(fusions: Longs) -> list[npt.NDArray[Any]]:
    """A part of nothing, so that a fusion without work has one."""
    return [fusions, fusions, *[np.zeros(len(fusions))] * 4]


def _fused_parts(ops: Module, fusions: Longs, work: InstructionWork) -> list[list[npt.NDArray[Any]]]:
    """What the members of these fusions compute, read and write."""
    fused, which = np.unique(ops.called.at(0)[fusions], return_inverse=True)
    outermost = fused_traffic.outermost(ops, fused)
    members = np.flatnonzero((outermost[ops.computation] >= 0) & ~fused_traffic.is_fusion(ops))
    members = members[~((work.flops[members] == 0) & (work.transcendentals[members] == 0))]
    nothing = np.zeros(len(members))
    computed = (outermost[ops.computation[members]], members, work.flops[members], work.transcendentals[members])
    reads, writes = fused_traffic.read(ops, fused), fused_traffic.written(ops, fused)
    none, no_writes = np.zeros(len(reads.fused)), np.zeros(len(writes.fused))
    return [
        _of_owners(fusions, which, [*computed, nothing, nothing]),
        _of_owners(fusions, which, [reads.fused, reads.member, none, none, reads.bytes, none]),
        _of_owners(fusions, which, [writes.fused, writes.member, no_writes, no_writes, no_writes, writes.bytes]),
    ]


def _of_owners(fusions: Longs, which: Longs, columns: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Parts of fused computations, once for each fusion that calls the computation; no member is the fusion."""
    order = np.argsort(which, kind="stable")
    count = np.bincount(which)
    first = np.cumsum(count) - count
    fused = columns[0].astype(np.int64)
    many = count[fused]
    place = np.repeat(first[fused] - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))
    owner = fusions[order[place]]
    member, *rest = (np.repeat(column, many) for column in columns[1:])
    return [owner, np.where(member >= 0, member, owner), *rest]


def _joined(columns: Sequence[npt.NDArray[Any]], n: int) -> Attribution:
    """One part for each pair of owner and member, in the order of the module."""
    owner, member = columns[0].astype(np.int64), columns[1].astype(np.int64)
    keys, place = np.unique(owner * n + member, return_inverse=True)
    sums = [np.bincount(place, column, len(keys)) for column in columns[2:]]
    owner, member = keys // max(1, n), keys % max(1, n)
    is_empty = (owner == member) & _has_others(owner) & ~np.any([column != 0 for column in sums], axis=0)
    return Attribution(owner[~is_empty], member[~is_empty], *(column[~is_empty] for column in sums))


def _has_others(owner: Longs) -> npt.NDArray[np.bool_]:
    return np.asarray(np.bincount(owner)[owner] > 1) if len(owner) else np.zeros(0, bool)
