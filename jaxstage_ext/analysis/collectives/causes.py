"""Why there is a collective: the operation that was partitioned, and the shardings before and after."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

from jaxstage_ext.analysis.collectives.collective_ops import CollectiveOp
from jaxstage_ext.analysis.sharding.propagation import Propagated
from jaxstage_ext.analysis.sharding.slices import Sharding
from jaxstage_ext.ir.hlo.module import Module

_WRITTEN = re.compile(
    r"(psum|pmax|pmin|pbroadcast|all_gather|reduce_scatter|psum_scatter|ppermute|all_to_all|ragged_all_to_all|pshuffle)"
    r"(?:_invariant|_reduced|2)?"
)
_SUMMING = (b"dot", b"reduce", b"convolution", b"scatter", b"reduce-window", b"custom-call", b"gather")
_REARRANGING = (b"transpose", b"reshape", b"copy", b"convert", b"bitcast", b"broadcast")
_EXCHANGING = (
    *_SUMMING, b"concatenate", b"pad", b"slice", b"dynamic-slice", b"dynamic-update-slice", b"sort", b"reverse", b"fft",
    b"select-and-scatter", b"cholesky", b"triangular-solve",
)  # fmt: skip
"""Operations whose parts may need each other's data."""
_MOST = 3


class CauseKind(Enum):
    """Why there is a collective."""

    UNKNOWN = "unknown"
    WRITTEN = "the program calls it"
    RESHARDING = "a value is used with another sharding than it has"
    PARTIAL_SUMS = "an operation leaves partial sums"
    PARTITIONING = "the parts of an operation need each other's data"


class Use(NamedTuple):
    """How a value is used: the sharding of the operation, and that of its other operand, "" without one."""

    spec: str
    beside: str = ""


@dataclass(frozen=True)
class Cause:
    """Why there is a collective.

    Attributes:
      values: what is resharded; the operation that leaves partial sums or is partitioned; the primitive that is called.
      users: operations for which a value is resharded.    is_result: whether it is resharded to leave the program.
      before: shardings of what goes in.    after: how it is used.    line: of that use.
      inferred: whether it was found by source line and size alone.
      why_unknown: why the rest is unknown, "" where it is known.
    """

    kind: CauseKind = CauseKind.UNKNOWN
    values: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    is_result: bool = False
    before: tuple[str, ...] = ()
    after: tuple[Use, ...] = ()
    line: str = ""
    inferred: bool = False
    why_unknown: str = ""

    @property
    def is_known(self) -> bool:
        return self.kind is not CauseKind.UNKNOWN


@dataclass(frozen=True)
class Exchanged:
    """What a collective exchanges.

    Attributes:
      sizes: how many elements the value in question may have on one device.
      shapes: its dimensions there, those of size one left out.      given: of these, those of what goes in.
      axes: along which mesh axes.
    """

    kind: str
    sizes: frozenset[int]
    shapes: frozenset[tuple[int, ...]]
    given: frozenset[tuple[int, ...]]
    axes: frozenset[str]

    @property
    def is_sum(self) -> bool:
        return self.kind in ("all-reduce", "reduce-scatter")


def _axes(sharding: Sharding) -> set[str]:
    return {axis.name for dim in sharding.axes or () for axis in dim}


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


def _preferred(rows: list[int], fits: Callable[[int], bool]) -> list[int]:
    """The rows that fit; all where none does."""
    return [row for row in rows if fits(row)] or rows


class Causes:
    """Finds the cause of each collective of a module, from the module before it was partitioned."""

    def __init__(self, module: Module, lines: Sequence[str], before: Propagated | None, why_unknown: str) -> None:
        self._module, self._lines, self._before, self._why = module, lines, before, why_unknown

    def of(self, op: CollectiveOp, operands: Sequence[int], exchanged: Exchanged) -> tuple[Cause, ...]:
        """The causes of one, several where the compiler combined collectives; `operands` are what goes in."""
        says = next((row for row in (op.row, op.start) if self._scope(row)), op.row)
        line = self._lines[op.row] or self._lines[op.start]
        joined = _parts(self._scope(says))
        places = Counter((scope, line if len(joined) == 1 else "") for scope in joined)
        if len(operands) > 1:
            own = Counter((self._scope(operand), self._lines[operand]) for operand in operands)
            places = Counter({place: count for place, count in own.items() if place[0]}) or places
        none: frozenset[Any] = frozenset()
        alone = exchanged if places.total() == 1 else replace(exchanged, sizes=none, shapes=none, given=none)
        causes = [self._of_scope(*place, alone, count) for place, count in places.items()]
        return tuple(dict.fromkeys(cause for several in causes for cause in several))

    def _scope(self, row: int) -> str:
        number = int(self._module.scope[row])
        return self._module.scopes[number] if number >= 0 else ""

    def _of_scope(self, scope: str, line: str, what: Exchanged, times: int) -> list[Cause]:
        """The causes of so many collectives that have a name scope."""
        if written := _WRITTEN.fullmatch(scope.rsplit("/", 1)[-1]):
            return [Cause(CauseKind.WRITTEN, (written[1],))]
        before = self._before
        if before is None:
            return [Cause(why_unknown=self._why or "the shardings after propagation are unknown")]
        rows = [row for row in before.by_scope.get(scope, []) if row not in before.reshards]
        if not rows:
            return self._of_line(scope, line, what)
        return self._of_rows(_preferred(rows, lambda row: before.line(row) == line), scope, what, times)

    def _of_line(self, scope: str, line: str, what: Exchanged) -> list[Cause]:
        """By source line and size, where the compiler dropped the scope."""
        before = self._before
        assert before is not None
        rows = [row for row in before.by_line.get(line, []) if self._elements(row) in what.sizes] if line else []
        rows = [row for row in rows if not what.is_sum or before.ops.opcode[row] in _SUMMING]
        if not rows or scope:
            return [Cause(why_unknown=f"no operation before partitioning is named {scope!r}")]
        return [replace(cause, inferred=True) for cause in self._of_rows(rows, line, what, 1)]

    def _of_rows(self, rows: list[int], named: str, what: Exchanged, times: int) -> list[Cause]:
        before = self._before
        assert before is not None
        if what.is_sum:
            rows = _preferred([self._summing(row) for row in rows], lambda row: self._sums_over(row, what, True))
            rows = _preferred(rows, lambda row: self._sums_over(row, what, False))
            rows = _preferred(rows, lambda row: self._elements(row) in what.sizes)
            rows = _preferred(rows, lambda row: self._dims(row) in what.shapes)
            made = [self._partitioned(row, CauseKind.PARTIAL_SUMS) for row in rows]
        else:
            taken = [cause for row in rows if before.ops.opcode[row] in _EXCHANGING for cause in self._taken(row, what)]
            if taken:
                return self._distinct(taken, named, times)
            needed = [row for row in rows if self._copies(row) or self._wanting(row) or self._handed_out(row)]
            exact = [
                row for row in needed if self._elements(row) in what.sizes or before.ops.opcode[row] == b"parameter"
            ]
            moved = exact or [row for row in needed if self._copies(row) or before.ops.opcode[row] not in _EXCHANGING]
            made = [self._moved(row) for row in _preferred(moved, lambda row: self._dims(row) in what.shapes)]
            made = made or [self._partitioned(row, CauseKind.PARTITIONING) for row in rows]
        return self._distinct(made, named, times)

    def _distinct(self, made: list[Cause], named: str, times: int) -> list[Cause]:
        if len(distinct := list(dict.fromkeys(made))) > times:
            why = f"{len(distinct)} operations are named {named!r}"
            return [replace(distinct[0], before=(), after=(), line="", why_unknown=why)]
        return distinct

    def _taken(self, row: int, what: Exchanged) -> list[Cause]:
        """The operands of an operation that have the shape of what goes in and are resharded for it."""
        before = self._before
        assert before is not None
        operands = dict.fromkeys(operand for operand in before.ops.operands[row] if operand >= 0)
        fitting = [
            operand
            for operand in operands
            if self._dims(operand) in what.given and what.axes <= _axes(before.sharding(operand))
        ]
        name, line = self._name(row), before.line(row)
        return [
            Cause(
                CauseKind.RESHARDING,
                (self._name(operand),),
                (name,),
                before=(before.sharding(operand).spec,),
                after=(self._use(operand, row),),
                line=line,
            )
            for operand in fitting
        ]

    def _use(self, operand: int, row: int) -> Use:
        """How an operation uses an operand."""
        before = self._before
        assert before is not None
        others = [
            other for other in before.ops.operands[row] if other not in (-1, operand) and before.ops.shapes.rank[other]
        ]
        specs = dict.fromkeys(before.sharding(other).spec for other in others)
        return Use(before.sharding(row).spec, next(iter(specs), ""))

    def _sums_over(self, row: int, what: Exchanged, whole: bool) -> bool:
        """Whether operands are sharded along the axes that are summed over; if `whole`, and the result is not."""
        before = self._before
        assert before is not None
        given = {
            name for operand in before.ops.operands[row] if operand >= 0 for name in _axes(before.sharding(operand))
        }
        left = _axes(before.sharding(row)) if whole else set[str]()
        return bool(what.axes) and what.axes <= given - left

    def _summing(self, row: int) -> int:
        """The operation that leaves partial sums, before what only rearranges them."""
        before, producer = self._before, row
        assert before is not None
        for _ in range(8):
            if before.ops.opcode[producer] in _SUMMING:
                return producer
            if before.ops.opcode[producer] not in _REARRANGING or (producer := before.ops.operands[producer][0]) < 0:
                break
        return row

    def _elements(self, row: int) -> int | None:
        assert self._before is not None
        shape = self._before.map(row).shard_shape
        return None if shape is None else math.prod(shape)

    def _dims(self, row: int) -> tuple[int, ...] | None:
        assert self._before is not None
        shape = self._before.map(row).shard_shape
        return None if shape is None else tuple(size for size in shape if size != 1)

    def _handed_out(self, row: int) -> list[str]:
        """The shardings, other than its own, with which a value leaves the program."""
        assert self._before is not None
        own = self._before.sharding(row).spec
        return [spec for sharding in self._before.handed_out.get(row, []) if (spec := sharding.spec) != own]

    def _wanting(self, row: int) -> list[int]:
        """The operations that use a value with another sharding than it has."""
        before = self._before
        assert before is not None
        own, sizes = before.sharding(row).spec, before.ops.shapes.sizes(row)
        exchanging = [u for u in before.users.get(row, []) if before.ops.opcode[u] in _EXCHANGING]
        alike = [u for u in before.users.get(row, []) if before.ops.shapes.sizes(u) == sizes]
        return exchanging + [u for u in alike if before.sharding(u).spec != own and u not in exchanging]

    def _copies(self, row: int) -> list[int]:
        """The copies that do nothing but reshard a value."""
        assert self._before is not None
        return [user for user in self._before.users.get(row, []) if user in self._before.reshards]

    def _moved(self, row: int) -> Cause:
        """A value that has one sharding and is used with another."""
        before, copies = self._before, self._copies(row)
        assert before is not None
        own = before.sharding(row).spec
        users = [user for copy in copies for user in before.users.get(copy, [])] or self._wanting(row)
        out = self._handed_out(row)
        wanted = [Use(before.sharding(copy).spec) for copy in copies] or [self._use(row, user) for user in users]
        uses = dict.fromkeys([*wanted, *map(Use, out)])
        names = list(dict.fromkeys(map(self._name, users)))[:_MOST]
        lines = {before.line(user) for user in users}
        return Cause(
            CauseKind.RESHARDING,
            (self._name(row),),
            tuple(names),
            bool(out) and len(names) < _MOST,
            (own,),
            tuple(uses)[:_MOST],
            lines.pop() if len(lines) == 1 else "",
        )

    def _partitioned(self, row: int, kind: CauseKind) -> Cause:
        """An operation whose parts need each other's data, or are partial sums."""
        before = self._before
        assert before is not None
        operands = [operand for operand in before.ops.operands[row] if operand >= 0 and before.ops.shapes.rank[operand]]
        own = before.sharding(row).spec
        other = [operand for operand in operands if before.sharding(operand).spec != own]
        if other and before.ops.opcode[row] not in _EXCHANGING:
            operands, kind = other, CauseKind.RESHARDING
        specs = tuple(dict.fromkeys(before.sharding(operand).spec for operand in operands))[:_MOST]
        name = self._name(row)
        values: tuple[str, ...] = tuple(dict.fromkeys(map(self._name, other)))
        users: tuple[str, ...]
        resharded = kind is CauseKind.RESHARDING
        values, users = (values, (name,)) if resharded else ((name,), ())
        return Cause(kind, values, users, before=specs, after=(Use(own),), line=before.line(row))

    def _name(self, row: int) -> str:
        assert self._before is not None
        opcode, name = self._before.ops.opcode[row], self._before.names[row]
        merged = opcode in _SUMMING and name.encode() in _REARRANGING
        return opcode.decode() if merged or not name else name
