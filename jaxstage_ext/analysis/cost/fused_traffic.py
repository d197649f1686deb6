"""Which instructions inside a fusion read the bytes that the fusion reads, and write those that it writes.

What a fusion reads of a parameter, or of a constant inside it, goes to the members that use it. Where several do, each
takes a share in proportion to what it uses, a slice or the whole. What the fusion writes goes to the members that make
its results. Bitcasts and fusions inside the fusion are looked through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.rules import traffic
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.ir.wire.protowire import Longs

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_VIEWS = (b"bitcast", b"get-tuple-element")


class MemberBytes(NamedTuple):
    """Bytes of members: the place of the fused computation, the member (-1 none of them), how many bytes."""

    fused: Longs
    member: Longs
    bytes: Floats


def read(ops: Module, fused: Longs) -> MemberBytes:
    """The bytes that the members of each of these fused computations read of its parameters and constants."""
    place = np.full(len(ops.computations), -1, np.int64)
    place[fused] = np.arange(len(fused))
    parameters, constants = ops.rows(b"parameter"), traffic.embedded(ops)
    parameters = parameters[place[ops.computation[parameters]] >= 0]
    outer = outermost(ops, fused)
    constants = constants[outer[ops.computation[constants]] >= 0]
    given = np.concatenate([parameters, constants])
    parts = list(_readers(ops, given))
    start, member, weight = (np.concatenate([part[column] for part in parts]) for column in range(3))
    amount = divided(traffic.read_of_each(ops)[given], start, weight)
    return MemberBytes(outer[ops.computation[given[start]]], member, amount)


def is_fusion(ops: Module) -> npt.NDArray[np.bool_]:
    """Which instructions are fusions whose computation is known."""
    return np.asarray((ops.opcode == b"fusion") & (ops.called.at(0) >= 0))


def outermost(ops: Module, fused: Longs) -> Longs:
    """For each computation, the place in `fused` of the one that holds it, through fusions in fusions; -1 for none."""
    place = np.full(len(ops.computations), -1, np.int64)
    place[fused] = np.arange(len(fused))
    rows = np.flatnonzero(is_fusion(ops))
    called = ops.called.at(0)[rows]
    for _ in range(len(rows)):
        held = np.where(place[called] < 0, place[ops.computation[rows]], -1)
        if not (held >= 0).any():
            break
        place[called[held >= 0]] = held[held >= 0]
    return place


def written(ops: Module, fused: Longs) -> MemberBytes:
    """The bytes that the members of each of these fused computations write into its results."""
    owner, output, amount = traffic.outputs(ops, fused)
    return MemberBytes(owner, _makers(ops, output), amount)


def divided(whole: Floats, group: Longs, weight: Floats) -> Floats:
    """Whole numbers, one for each group, divided by weight into whole numbers that add up to them."""
    order = np.argsort(group, kind="stable")
    group, weight = group[order], weight[order]
    is_last = np.append(group[1:] != group[:-1], True)[: len(group)]
    totals = np.bincount(group, weight, len(whole))
    reached = np.cumsum(weight) - (np.cumsum(totals) - totals)[group]
    share = np.clip(reached / np.where(totals > 0, totals, 1)[group], 0, 1)
    until = np.where(is_last, whole[group], np.floor(whole[group] * share))
    parts = np.zeros(len(group))
    parts[order] = until - np.where(np.roll(is_last, 1), 0, np.roll(until, 1))
    return parts


def _readers(ops: Module, parameters: Longs) -> Iterator[tuple[Longs, Longs, Floats]]:
    """(place in `parameters`, member that uses it, bytes that it uses); first each parameter with no member."""
    size, users, inner = ops.shapes.padded.astype(np.float64), _users(ops), traffic.inner_parameters(ops)
    holder = _holders(ops)
    start, at = np.arange(len(parameters)), parameters
    yield start, np.full(len(start), -1, np.int64), np.zeros(len(start))
    for _ in range(len(ops)):
        if not len(at):
            return
        outer = np.where(ops.roots[ops.computation[at]] == at, holder[ops.computation[at]], -1)
        edge = _edges(users, at)
        origin, user = np.repeat(start, users.count[at]), ops.operands.owner[edge]
        opcode = ops.opcode[user]
        is_view, is_fusion = np.isin(opcode, _VIEWS), opcode == b"fusion"
        reads = ~is_view & ~is_fusion & (opcode != b"tuple")
        use = traffic.used(ops, edge, size)
        yield origin[reads], user[reads], use[reads]
        onward = np.select([is_view, is_fusion], [user, inner[edge]], -1)
        start, at = np.concatenate([start, origin]), np.concatenate([outer, onward])
        start, at = start[at >= 0], at[at >= 0]


def _users(ops: Module) -> Lists:
    """For each instruction, the edges (places in `operands.values`) by which others use it."""
    values = ops.operands.values
    order = np.argsort(values, kind="stable")
    order = order[values[order] >= 0]
    return lists(values[order], order, len(ops))


def _edges(users: Lists, rows: Longs) -> Longs:
    count = users.count[rows]
    first = np.repeat(users.start[rows] - (np.cumsum(count) - count), count)
    return np.asarray(users.values[first + np.arange(int(count.sum()))], np.int64)


def _holders(ops: Module) -> Longs:
    """For each computation, the fusion inside another fusion that it is the body of; -1 for other computations."""
    holder = np.full(len(ops.computations), -1, np.int64)
    rows = ops.rows(b"fusion")
    rows = rows[ops.called.at(0)[rows] >= 0]
    is_fused = np.isin(ops.computation[rows], ops.called.at(0)[rows])
    holder[ops.called.at(0)[rows[is_fused]]] = rows[is_fused]
    return holder


def _makers(ops: Module, rows: Longs) -> Longs:
    """The members that make these values, -1 for a parameter or a part of a tuple."""
    rows = traffic.through(ops, rows)
    makes_none = (b"parameter", b"tuple", b"get-tuple-element")
    return np.where(np.isin(ops.opcode[rows], makes_none), -1, rows)
