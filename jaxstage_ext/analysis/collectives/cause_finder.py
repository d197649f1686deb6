"""Finds why there is a collective, from the name that XLA gave it and the module before it was partitioned.

Of several that the compiler combined, the cause of the most bytes comes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxstage_ext.analysis.collectives.cause_of_operation import SUMMING, CausesOfOperations
from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause
from jaxstage_ext.analysis.collectives.collective_ops import CollectiveOp
from jaxstage_ext.analysis.sharding.propagation import Propagated
from jaxstage_ext.ir.hlo.module import Module

_WRITTEN = re.compile(
    r"(psum|pmax|pmin|pbroadcast|all_gather|reduce_scatter|psum_scatter|ppermute|all_to_all|ragged_all_to_all|pshuffle)"
    r"(?:_invariant|_reduced|2)?"
)
_HANDS_ON = (b"get-tuple-element", b"bitcast", b"copy", b"transpose", b"reshape", b"convert")
_FARTHEST = 6
"""Most instructions between a collective that has no name and one that has."""


@dataclass(frozen=True)
class Exchanged:
    """What a collective exchanges."""

    kind: str
    sizes: frozenset[int]
    """How many elements the value in question may have on one device."""
    shapes: frozenset[tuple[int, ...]]
    """Its dimensions there, those of size one left out."""
    given: frozenset[tuple[int, ...]]
    """Of these, those of what goes in."""
    axes: frozenset[str]
    """Along which mesh axes."""

    @property
    def is_sum(self) -> bool:
        return self.kind in ("all-reduce", "reduce-scatter")


def _parts(scope: str) -> list[str]:
    """The scopes that XLA joined into one, `jit(f)/(a/add:b/mul)`, where it combined instructions."""
    head, joined, inner = scope.partition("/(")
    if not joined or not inner.endswith(")"):
        return [scope]
    parts, depth = [""], 0
    for char in inner[:-1]:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return [scope]
        if char == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [f"{head}/{part}" for part in parts] if len(parts) > 1 else [scope]


def _preferred(rows: list[int], fits: Callable[[int], Any]) -> list[int]:
    """The rows that fit; all where none does."""
    return [row for row in rows if fits(row)] or rows


class Causes:
    """Finds the cause of each collective of a module, from the module before it was partitioned."""

    def __init__(self, module: Module, lines: Sequence[str], before: Propagated | None, why_unknown: str) -> None:
        self._module, self._lines, self._before, self._why = module, lines, before, why_unknown
        self._of = None if before is None else CausesOfOperations(before)
        self._users: dict[int, list[int]] = {}

    def of(self, op: CollectiveOp, operands: Sequence[int], exchanged: Exchanged) -> tuple[CollectiveCause, ...]:
        """The causes of one, several where the compiler combined collectives; `operands` are what goes in."""
        says = next((row for row in (op.row, op.start) if self._scope(row)), op.row)
        line = self._lines[op.row] or self._lines[op.start]
        joined = _parts(self._scope(says))
        places = Counter((scope, line if len(joined) == 1 else "") for scope in joined)
        if len(operands) > 1:
            makers = [self._maker(operand) for operand in self._largest_first(operands)]
            own = Counter((self._scope(maker), self._lines[maker]) for maker in makers)
            places = Counter({place: count for place, count in own.items() if place[0]}) or places
        none: frozenset[Any] = frozenset()
        alone = exchanged if places.total() == 1 else replace(exchanged, sizes=none, shapes=none, given=none)
        causes = [self._of_scope(op, *place, alone, count) for place, count in places.items()]
        return tuple(dict.fromkeys(cause for several in causes for cause in several))

    def _largest_first(self, operands: Sequence[int]) -> list[int]:
        size = self._module.shapes.bytes
        return sorted(operands, key=lambda operand: -int(size[operand]))

    def _maker(self, row: int) -> int:
        """The instruction with a name that makes a value; that of the value itself where none is near."""
        maker = row
        for _ in range(_FARTHEST):
            if self._scope(maker):
                return maker
            if self._module.opcode[maker] not in _HANDS_ON or (maker := self._module.operands[maker][0]) < 0:
                break
        return row

    def _scope(self, row: int) -> str:
        number = int(self._module.scope[row])
        return self._module.scopes[number] if number >= 0 else ""

    def _of_scope(self, op: CollectiveOp, scope: str, line: str, what: Exchanged, times: int) -> list[CollectiveCause]:
        """The causes of so many collectives that have a name scope."""
        if written := _WRITTEN.fullmatch(scope.rsplit("/", 1)[-1]):
            kind = CauseKind.BACKWARD if "transpose(" in scope else CauseKind.WRITTEN
            return [CollectiveCause(kind, (written[1],), lines=(line,) if line else ())]
        before = self._before
        if before is None or self._of is None:
            return [CollectiveCause(why_unknown=self._why or "the shardings after propagation are unknown")]
        rows = [row for row in before.by_scope.get(scope, []) if row not in before.reshards]
        if not rows:
            return self._of_line(op, scope, line, what)
        return self._of_rows(_preferred(rows, lambda row: before.line(row) == line), scope, what, times)

    def _of_line(self, op: CollectiveOp, scope: str, line: str, what: Exchanged) -> list[CollectiveCause]:
        """By source line and size, or by what goes in and out, where the compiler dropped the scope."""
        before, of = self._before, self._of
        assert before is not None
        assert of is not None
        rows = [row for row in before.by_line.get(line, []) if of.elements(row) in what.sizes] if line else []
        rows = [row for row in rows if not what.is_sum or before.ops.opcode[row] in SUMMING]
        if rows and not scope:
            return [replace(cause, inferred=True) for cause in self._of_rows(rows, line, what, 1)]
        anchors = self._anchors(op)
        made = [of.moved(row, what.axes) for row in anchors if of.leaves_otherwise(row, what.axes)]
        if not made:
            forcing = of.forcing.nearest(anchors, what.axes)
            made = [cause for row in forcing for cause in of.forced(row, what.axes)]
        if made and len({cause.lines for cause in made}) == 1:
            return [replace(made[0], inferred=True)]
        return [CollectiveCause(why_unknown=f"no operation before partitioning is named {scope!r}")]

    def _anchors(self, op: CollectiveOp) -> list[int]:
        """The operations before partitioning that what goes in and what comes out is named after."""
        before, module = self._before, self._module
        assert before is not None
        if not self._users:
            for user, operand in zip(module.operands.owner.tolist(), module.operands.values.tolist(), strict=True):
                self._users.setdefault(operand, []).append(user)
        level = list(dict.fromkeys((op.row, op.start, op.done)))
        for _ in range(_FARTHEST):
            level = list(dict.fromkeys(n for row in level for n in (*module.operands[row], *self._users.get(row, []))))
            named = [row for place in level if place >= 0 for row in before.by_scope.get(self._scope(place), [])]
            if named:
                return named
        return []

    def _of_rows(self, rows: list[int], named: str, what: Exchanged, times: int) -> list[CollectiveCause]:
        of = self._of
        assert of is not None
        if what.is_sum and (made := self._sums(rows, what)):
            return self._distinct(made, named, times)
        if made := [cause for row in rows for cause in of.taken(row, what.given, what.axes)]:
            return self._distinct(made, named, times)
        return self._distinct(self._moved(rows, what) or self._forced(rows, what), named, times)

    def _sums(self, rows: list[int], what: Exchanged) -> list[CollectiveCause]:
        of = self._of
        assert of is not None
        summing = [row for row in map(of.summing, rows) if of.may_sum(row)]
        for fits in (
            lambda row: of.mixes(row, what.axes),
            lambda row: of.sums_over(row, what.axes, True),
            lambda row: of.sums_over(row, what.axes, False),
            lambda row: of.elements(row) in what.sizes,
            lambda row: of.dims(row) in what.shapes,
        ):
            summing = _preferred(summing, fits)
        return [of.partitioned(row, CauseKind.PARTIAL_SUMS) for row in summing]

    def _moved(self, rows: list[int], what: Exchanged) -> list[CollectiveCause]:
        """Values that are used with another sharding than they have."""
        of, before = self._of, self._before
        assert of is not None
        assert before is not None
        needed = [row for row in rows if of.copies(row) or of.wanting(row, what.axes) or of.handed_out(row)]
        exact = [row for row in needed if of.elements(row) in what.sizes or before.ops.opcode[row] == b"parameter"]
        moved = exact or [row for row in needed if of.copies(row) or not of.may_exchange(row)]
        return [of.moved(row, what.axes) for row in _preferred(moved, lambda row: of.dims(row) in what.shapes)]

    def _forced(self, rows: list[int], what: Exchanged) -> list[CollectiveCause]:
        """By the operations themselves, or else by those nearby that need an exchange."""
        of = self._of
        assert of is not None
        if itself := [row for row in rows if of.may_exchange(row) or of.forcing.needs(row, what.axes)]:
            return [of.partitioned(row, CauseKind.PARTITIONING) for row in itself]
        nearest = of.forcing.nearest(rows, what.axes)
        made = [replace(cause, inferred=True) for row in nearest for cause in of.forced(row, what.axes)]
        places = dict.fromkeys(cause.lines for cause in made)
        if len(places) == 1:
            return made[:1]
        return [of.between(row) for row in rows]

    def _distinct(self, made: list[CollectiveCause], named: str, times: int) -> list[CollectiveCause]:
        if len(distinct := list(dict.fromkeys(made))) > times:
            why = f"{len(distinct)} operations are named {named!r}"
            lines = {cause.lines for cause in distinct}
            return [
                replace(distinct[0], before=(), after=(), lines=lines.pop() if len(lines) == 1 else (), why_unknown=why)
            ]
        return distinct
