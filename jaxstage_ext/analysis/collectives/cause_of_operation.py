"""The cause that an operation is of a collective: what is resharded for it, or what it leaves in parts."""

from __future__ import annotations

import math
from collections.abc import Iterable

from jaxstage_ext.analysis.collectives import dimension_flow
from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause, Use
from jaxstage_ext.analysis.collectives.dimension_flow import EXCHANGING
from jaxstage_ext.analysis.collectives.forcing_ops import ForcingOps
from jaxstage_ext.analysis.sharding.propagation import CONSTRAINTS, Propagated
from jaxstage_ext.analysis.sharding.slices import Sharding

SUMMING = (b"dot", b"reduce", b"convolution", b"scatter", b"reduce-window", b"custom-call", b"gather")
_REARRANGING = (b"transpose", b"reshape", b"copy", b"convert", b"bitcast", b"broadcast")
_CONTRACTING = (b"dot", b"convolution")
_MOST = 3
_FARTHEST = 8


def _axes(sharding: Sharding) -> set[str]:
    return {axis.name for dim in sharding.axes or () for axis in dim}


class CausesOfOperations:
    """The causes that the operations of a module before partitioning are of collectives."""

    def __init__(self, before: Propagated) -> None:
        self._before = before
        self.forcing = ForcingOps(before)

    def may_exchange(self, row: int) -> bool:
        """Whether the parts of such an operation may need each other's data, whatever the shardings."""
        return bytes(self._before.ops.opcode[row]) in EXCHANGING and bytes(self._before.ops.opcode[row]) != b"transpose"

    def may_sum(self, row: int) -> bool:
        """Whether such an operation may leave partial sums."""
        return bytes(self._before.ops.opcode[row]) in SUMMING or self.may_exchange(row)

    def taken(self, row: int, given: frozenset[tuple[int, ...]], axes: frozenset[str]) -> list[CollectiveCause]:
        """The operands of an operation that have the shape of what goes in and are resharded for it."""
        before = self._before
        if not self.may_exchange(row):
            return []
        operands = dict.fromkeys(operand for operand in before.ops.operands[row] if operand >= 0)
        fitting = [op for op in operands if self.dims(op) in given and axes <= _axes(before.sharding(op))]
        return [self._resharded(operand, row, axes) for operand in fitting]

    def forced(self, row: int, axes: frozenset[str]) -> list[CollectiveCause]:
        """What an operation needs from other devices along some mesh axes."""
        before = self._before
        if row in before.reshards:
            return [self.moved(before.ops.operands[row][0], axes)]
        return [self._resharded(operand, row, axes) for operand in self.forcing.needs(row, axes)]

    def _resharded(self, operand: int, row: int, axes: frozenset[str]) -> CollectiveCause:
        return CollectiveCause(
            CauseKind.RESHARDING,
            (self._name(operand),),
            (self._name(row),),
            before=(self._before.sharding(operand).spec,),
            after=(self._use(operand, row, axes),),
            lines=self._lines([row]),
        )

    def _lines(self, rows: Iterable[int]) -> tuple[str, ...]:
        """The lines of operations; of what a loop takes for one of its rounds, that of its use in the body too."""
        lines = [line for row in rows for line in (*self._in_body(row), self._before.line(row))]
        return tuple(dict.fromkeys(line for line in lines if line))

    def _in_body(self, row: int) -> list[str]:
        """Where a loop's body first uses the slice that a scan takes for it."""
        before = self._before
        if before.ops.opcode[row] != b"dynamic-slice" or "while/body" not in before.scope(row):
            return []
        own, users = before.line(row), [row]
        for _ in range(_FARTHEST):
            users = [user for row in users for user in before.users.get(row, [])]
            if lines := [line for user in users if (line := before.line(user)) and line != own]:
                return lines[:1]
        return []

    def _use(self, operand: int, row: int, axes: frozenset[str] = frozenset()) -> Use:
        """How an operation uses an operand that is exchanged along some mesh axes.

        An operation on each element takes it in its own sharding; a product has the operand whole along the axes.
        """
        before = self._before
        own, taken = before.sharding(operand), before.sharding(row)
        is_alike = before.ops.shapes.sizes(row) == before.ops.shapes.sizes(operand)
        if axes and (taken.spec == own.spec or (not is_alike and before.ops.opcode[row] in _CONTRACTING)):
            taken = own.without(axes)
        others = [
            other for other in before.ops.operands[row] if other not in (-1, operand) and before.ops.shapes.rank[other]
        ]
        specs = dict.fromkeys(before.sharding(other).spec for other in others)
        return Use(taken.spec, next(iter(specs), ""))

    def mixes(self, row: int, axes: frozenset[str]) -> bool:
        """Whether an operation sums over dimensions that are sharded along some mesh axes."""
        return bool(axes) and axes <= dimension_flow.mixed(self._before, row)

    def sums_over(self, row: int, axes: frozenset[str], whole: bool) -> bool:
        """Whether operands are sharded along the axes that are summed over; if `whole`, and the result is not."""
        before = self._before
        operands = [operand for operand in before.ops.operands[row] if operand >= 0]
        given = {name for operand in operands for name in _axes(before.sharding(operand))}
        left = _axes(before.sharding(row)) if whole else set[str]()
        return bool(axes) and axes <= given - left

    def summing(self, row: int) -> int:
        """The operation that leaves partial sums, before what only rearranges them."""
        before, producer = self._before, row
        for _ in range(_FARTHEST):
            if before.ops.opcode[producer] in SUMMING:
                return producer
            if before.ops.opcode[producer] not in _REARRANGING or (producer := before.ops.operands[producer][0]) < 0:
                break
        return row

    def elements(self, row: int) -> int | None:
        """How many elements of its result one device has; None where unknown."""
        shape = self._before.map(row).shard_shape
        return None if shape is None else math.prod(shape)

    def dims(self, row: int) -> tuple[int, ...] | None:
        """The dimensions of its result on one device, those of size one left out; None where unknown."""
        shape = self._before.map(row).shard_shape
        return None if shape is None else tuple(size for size in shape if size != 1)

    def handed_out(self, row: int) -> list[str]:
        """The shardings, other than its own, with which a value leaves the program."""
        own = self._before.sharding(row).spec
        return [spec for sharding in self._before.handed_out.get(row, []) if (spec := sharding.spec) != own]

    def leaves_otherwise(self, row: int, axes: frozenset[str]) -> bool:
        """Whether a value that is sharded along some mesh axes leaves the program with another sharding."""
        return bool(self.handed_out(row)) and axes <= _axes(self._before.sharding(row))

    def wanting(self, row: int, axes: frozenset[str]) -> list[int]:
        """The operations that use a value with another sharding than it has, along some mesh axes where any does."""
        before = self._before
        users = before.users.get(row, [])
        if needing := [user for user in users if row in self.forcing.needs(user, axes)]:
            return needing
        own, sizes = before.sharding(row).spec, before.ops.shapes.sizes(row)
        exchanging = [user for user in users if self.may_exchange(user)]
        alike = [user for user in users if before.ops.shapes.sizes(user) == sizes]
        return exchanging + [user for user in alike if before.sharding(user).spec != own and user not in exchanging]

    def copies(self, row: int) -> list[int]:
        """The copies that do nothing but reshard a value."""
        return [user for user in self._before.users.get(row, []) if user in self._before.reshards]

    def moved(self, row: int, axes: frozenset[str]) -> CollectiveCause:
        """A value that has one sharding and is used with another."""
        before, copies = self._before, self.copies(row)
        own = before.sharding(row).spec
        if copies and self._is_moved_for(row):
            return self.partitioned(row, CauseKind.PARTITIONING)
        users = [user for copy in copies for user in before.users.get(copy, [])] or self.wanting(row, axes)
        out = self.handed_out(row)
        wanted = [Use(before.sharding(copy).spec) for copy in copies] or [self._use(row, user, axes) for user in users]
        uses = dict.fromkeys([*wanted, *map(Use, out)])
        constraints = [asked for user in users if (asked := self._asked(user, row)) >= 0]
        names = list(dict.fromkeys(map(self._name, [*users, *constraints])))[:_MOST]
        return CollectiveCause(
            CauseKind.RESHARDING,
            (self._name(row),),
            tuple(names),
            bool(out) and len(names) < _MOST,
            (own,),
            tuple(uses)[:_MOST],
            self._lines(constraints or users or ([row] if out else [])),
        )

    def _is_moved_for(self, row: int) -> bool:
        """Whether values are resharded for an operation alone: what goes in is, and what comes out again."""
        operands = [operand for operand in self._before.ops.operands[row] if self._before.ops.shapes.rank[operand]]
        return self.may_exchange(row) and bool(operands) and all(op in self._before.reshards for op in operands)

    def _asked(self, row: int, operand: int) -> int:
        """The constraint from which an elementwise operation has its sharding; -1 for none."""
        before, own = self._before, self._before.sharding(row).spec
        if before.ops.shapes.sizes(row) != before.ops.shapes.sizes(operand):
            return -1
        for _ in range(_FARTHEST):
            if before.names[row] in CONSTRAINTS:
                return row
            sizes = before.ops.shapes.sizes(row)
            onward = [
                user
                for user in before.users.get(row, [])
                if before.sharding(user).spec == own and before.ops.shapes.sizes(user) == sizes
            ]
            if self.may_exchange(row) or before.ops.opcode[row] in _REARRANGING or len(onward) != 1:
                break
            row = onward[0]
        return -1

    def partitioned(self, row: int, kind: CauseKind) -> CollectiveCause:
        """An operation whose parts need each other's data, or are partial sums."""
        before = self._before
        operands = [operand for operand in before.ops.operands[row] if operand >= 0 and before.ops.shapes.rank[operand]]
        own = before.sharding(row).spec
        other = [operand for operand in operands if before.sharding(operand).spec != own]
        if other and not self.may_sum(row):
            operands, kind = other, CauseKind.RESHARDING
        specs = tuple(dict.fromkeys(before.sharding(operand).spec for operand in operands))[:_MOST]
        if kind is not CauseKind.RESHARDING:
            return CollectiveCause(
                kind, (self._name(row),), (), before=specs, after=(Use(own),), lines=self._lines([row])
            )
        constraints = [asked for operand in other if (asked := self._asked(row, operand)) >= 0][:1]
        values, users = (tuple(dict.fromkeys(map(self._name, named))) for named in (other, [row, *constraints]))
        return CollectiveCause(
            kind, values, users, before=specs, after=(Use(own),), lines=self._lines(constraints or [row])
        )

    def between(self, row: int) -> CollectiveCause:
        """That no operation near a value needs an exchange: the cause is between where it is made and used."""
        before = self._before
        made = [before.line(operand) for operand in (row, *before.ops.operands[row]) if operand >= 0]
        used = [before.line(user) for user in before.users.get(row, [])]
        ends = tuple(dict.fromkeys(line for line in (*made[:1], *used[:1]) if line))
        why = f"no operation next to {self._name(row)} needs an exchange by its shardings"
        return CollectiveCause(lines=ends, is_between=len(ends) == 2, why_unknown=why)

    def _name(self, row: int) -> str:
        row = next(iter(self.forcing.through.get(row, [])), row) if not self._before.names[row] else row
        opcode, name = self._before.ops.opcode[row], self._before.names[row]
        merged = row in self._before.restored or (opcode in SUMMING and name.encode() in _REARRANGING)
        return opcode.decode() if merged or not name else name
