"""Which instructions of two HLO texts are the same.

Instructions are matched within matched computations, the surest way first: the same value computed the same way; the
same neighbourhood; the same instruction of matched operands, of matched users; the same name. What is left is looked
for in other computations, because fusing and inlining move instructions.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterable

import numpy as np

from jaxstage_ext.ir.passes.hlo_graph import Computation, Graph
from jaxstage_ext.ir.passes.hlo_line import INSTRUCTION
from jaxstage_ext.report.frames import Ints

_NUMBER = re.compile(r"\.(?:clone|remat\d*|\d+)")

Key = Callable[[Graph, int], Hashable]
"""What must be equal for two rows to match; None matches nothing."""


class Matching:
    """Pairs of rows and of computations, found step by step."""

    def __init__(self, a: Graph, b: Graph) -> None:
        self.a, self.b = a, b
        self.rows: dict[int, int] = {}
        self.taken: dict[int, int] = {}
        self.computations: dict[str, str] = {}
        self.paired: set[str] = set()
        self.copies: dict[int, int] = {}
        self.merged: dict[int, int] = {}

    def run(self) -> None:
        by_digest: dict[int, list[str]] = {}
        for computation in self.b.computations.values():
            by_digest.setdefault(computation.digest, []).append(computation.name)
        for name in reversed(self.a.computations):
            self._pair_alone(name, by_digest)
            if name in self.computations:
                self._match(self.a.computations[name], self.b.computations[self.computations[name]])
        self._match_moved()
        self._match_rest()

    def _pair_alone(self, name: str, by_digest: dict[int, list[str]]) -> None:
        """Pair a computation that no matched instruction calls: by its content, else by its name."""
        if name in self.computations:
            return
        ours, theirs = self.a.computations[name], self.b.computations
        is_entry = self.a.shapes[ours.head].opcode
        same = [other for other in by_digest.get(ours.digest, ()) if other not in self.paired]
        if is_entry:
            same = [other for other in theirs if self.b.shapes[theirs[other].head].opcode]
        match = name if name in same else same[0] if same else name if name in theirs else ""
        if match and match not in self.paired:
            self._pair(name, match)

    def _pair(self, name: str, other: str) -> None:
        self.computations[name] = other
        self.paired.add(other)

    def _match(self, ours: Computation, theirs: Computation) -> None:
        """Match what is in two paired computations, and pair what the matched instructions call."""
        left, right = list(ours.rows.values()), list(theirs.rows.values())
        self._by(_identity, left, right)
        self._by(_digest, left, right, even=True)
        if self._open(left, right):
            self._by_neighbourhood(left, right)
        if self._open(left, right):
            self._by_operands(left, right)
            self._by_users(left, right)
            self._by(_same_name, left, right)
            self._by(_digest, left, right)
            self._by(_skeleton, left, right, even=True)
            self._by_operands(left, right)
        for row in left:
            for name, other in (
                zip(self.a.called[row], self.b.called[self.rows[row]], strict=False) if row in self.rows else ()
            ):
                if name not in self.computations and other not in self.paired:
                    self._pair(name, other)

    def _open(self, left: Iterable[int], right: Iterable[int]) -> bool:
        return any(row not in self.rows for row in left) and any(row not in self.taken for row in right)

    def _by(self, key: Key, left: Iterable[int], right: Iterable[int], even: bool = False) -> None:
        """Match rows of equal keys in their order, those of one name first; `even`: only where both have as many."""
        theirs: dict[Hashable, list[int]] = {}
        for row in right:
            if row not in self.taken:
                theirs.setdefault(key(self.b, row), []).append(row)
        theirs.pop(None, None)
        if not theirs:
            return
        ours: dict[Hashable, list[int]] = {}
        for row in left:
            if row not in self.rows and (value := key(self.a, row)) in theirs:
                ours.setdefault(value, []).append(row)
        for value, rows in ours.items():
            self._zip(rows, theirs[value], even)

    def _zip(self, rows: list[int], others: list[int], even: bool) -> None:
        if len(rows) > 1 or len(others) > 1:
            names = {self.b.shapes[row].name: row for row in others}
            for row in rows:
                if (other := names.get(self.a.shapes[row].name)) is not None:
                    self._add(row, other)
            rows = [row for row in rows if row not in self.rows]
            others = [row for row in others if row not in self.taken]
            if even and len(rows) != len(others):
                return
        for row, other in zip(rows, others, strict=False):
            self._add(row, other)

    def _add(self, row: int, other: int) -> None:
        self.rows[row] = other
        self.taken[other] = row

    def _by_neighbourhood(self, left: list[int], right: list[int]) -> None:
        rounds = list(zip(_neighbourhoods(self.a, left), _neighbourhoods(self.b, right), strict=True))
        for ours, theirs in reversed(rounds):
            self._by(functools.partial(self._of_side, ours, theirs), left, right, even=True)

    def _of_side(self, ours: dict[int, int], theirs: dict[int, int], graph: Graph, row: int) -> int:
        return (ours if graph is self.a else theirs)[row]

    def _by_operands(self, left: list[int], right: list[int]) -> None:
        """In the order of the text: the same instruction of matched operands."""
        open_rows: dict[Hashable, list[int]] = {}
        for row in right:
            if row not in self.taken and self.b.operands[row]:
                open_rows.setdefault((self.b.shapes[row].skeleton, self.b.operands[row]), []).append(row)
        for row in left:
            if open_rows and row not in self.rows and self.a.operands[row]:
                operands = tuple(self.rows.get(operand, -1) for operand in self.a.operands[row])
                if candidates := open_rows.get((self.a.shapes[row].skeleton, operands)):
                    self._add(row, candidates.pop(0))

    def _by_users(self, left: list[int], right: list[int]) -> None:
        """Against the order of the text: the same opcode, used by matched instructions at the same places."""
        ours, theirs = self.a.users(left), self.b.users(right)
        open_rows: dict[Hashable, list[int]] = {}
        for row in right:
            if row not in self.taken and row in theirs:
                open_rows.setdefault((self.b.shapes[row].opcode, frozenset(theirs[row])), []).append(row)
        for row in reversed(left):
            if open_rows and row not in self.rows and row in ours:
                users = frozenset((self.rows.get(user, -1), place) for user, place in ours[row])
                if candidates := open_rows.get((self.a.shapes[row].opcode, users)):
                    self._add(row, candidates.pop(0))

    def _match_moved(self) -> None:
        """What is left, whatever its computation: by content and name, by name, by content alone."""
        left = [
            row for row, shape in enumerate(self.a.shapes) if shape.kind == INSTRUCTION and shape.opcode not in _IDLE
        ]
        right = [
            row for row, shape in enumerate(self.b.shapes) if shape.kind == INSTRUCTION and shape.opcode not in _IDLE
        ]
        for key in (_identity, _same_name, _origin, _digest):
            self._by(key, left, right, even=key is _digest)
        self._match_copies(left, right)

    def _match_copies(self, left: list[int], right: list[int]) -> None:
        """Further rows of a match: copies of one, by name and metadata; those merged into one, by content."""
        ours = {key: row for row in reversed(left) if (key := _origin(self.a, row)) is not None}
        self.copies = {
            row: ours[key] for row in right if row not in self.taken and (key := _origin(self.b, row)) in ours
        }
        theirs = {self.b.digest[row]: row for row in reversed(right)}
        self.merged = {
            row: theirs[digest] for row in left if row not in self.rows and (digest := self.a.digest[row]) in theirs
        }

    def _match_rest(self) -> None:
        """The heads and ends of paired computations, then the lines outside computations in their order."""
        for name, other in self.computations.items():
            ours, theirs = self.a.computations[name], self.b.computations[other]
            self._add(ours.head, theirs.head)
            if ours.end >= 0 and theirs.end >= 0:
                self._add(ours.end, theirs.end)
        outside = ([row for row, name in enumerate(graph.owner) if not name] for graph in (self.a, self.b))
        for row, other in zip(*outside, strict=False):
            self._add(row, other)

    def columns(self) -> tuple[Ints, Ints]:
        forward, backward = (np.full(len(graph.shapes), -1, np.int32) for graph in (self.a, self.b))
        for column, pairs in (
            (forward, self.merged),
            (backward, self.copies),
            (forward, self.rows),
            (backward, self.taken),
        ):
            if pairs:
                rows, others = np.array([*pairs.items()], np.int32).T
                column[rows] = others
        return forward, backward

    def has_moved(self, row: int, other: int) -> bool:
        """Whether a matched row reads the same, whatever its operands, in another computation."""
        if not self.a.owner[row] or self.computations.get(self.a.owner[row]) == self.b.owner[other]:
            return False
        return self.a.shapes[row].skeleton == self.b.shapes[other].skeleton

    def is_same(self, row: int, other: int) -> bool:
        """Whether a matched row reads the same but for names."""
        if self.a.shapes[row].skeleton != self.b.shapes[other].skeleton:
            return False
        ours, theirs = self.a.operands[row], self.b.operands[other]
        if len(ours) != len(theirs) or len(self.a.called[row]) != len(self.b.called[other]):
            return False
        return all(
            self.rows.get(operand) == other_operand or self.a.digest[operand] == self.b.digest[other_operand]
            for operand, other_operand in zip(ours, theirs, strict=True)
        )


_IDLE = frozenset({"parameter", "tuple", "get-tuple-element"})
"""Too much alike to be looked for in other computations."""


def _digest(graph: Graph, row: int) -> Hashable:
    return graph.digest[row]


def _identity(graph: Graph, row: int) -> Hashable:
    return graph.digest[row], graph.shapes[row].name


def _same_name(graph: Graph, row: int) -> Hashable:
    return graph.shapes[row].name, graph.shapes[row].opcode


def _origin(graph: Graph, row: int) -> Hashable:
    """Metadata, and what stays of a line and a name when an instruction is copied; None without metadata."""
    shape, note = graph.shapes[row], graph.notes[row]
    return (note, _unnumbered(shape.name), shape.skeleton) if note else None


def _unnumbered(name: str) -> str:
    """The name without what is appended to the names of copies."""
    end = len(name)
    while (dot := name.rfind(".", 0, end)) >= 0 and _NUMBER.fullmatch(name, dot, end):
        end = dot
    return name[:end]


def _skeleton(graph: Graph, row: int) -> Hashable:
    return graph.shapes[row].skeleton


def _neighbourhoods(graph: Graph, rows: list[int], radius: int = 3) -> list[dict[int, int]]:
    """Per radius: a number for each row that is the same where what lies within that distance is the same."""
    users, shapes = graph.users(rows), graph.shapes
    now = {row: hash(shapes[row].skeleton) for row in rows}
    result = []
    for _ in range(radius):
        now = {
            row: hash(
                (
                    now[row],
                    tuple(now[operand] for operand in graph.operands[row]),
                    sum(hash((now[user], place)) for user, place in users.get(row, ())),
                )
            )
            for row in rows
        }
        result.append(now)
    return result
