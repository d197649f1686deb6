"""The classes of dimensions that split alike: every dimension of every array that one factor of a rule has.

Published as the static analysis of TOAST (arXiv 2508.15010). Values that come from constants alone tie nothing: equal
constants are one value of the program, wherever they are used. Calls are inlined, so that those of one function do not
tie each other. Loops and branches tie what crosses their border.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from jaxstage_ext.analysis.sharding.disjoint_sets import DisjointSets
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp

Place = tuple[int, int]
"""(number of an argument, result or value, its dimension)."""


@dataclass(frozen=True)
class DimensionClass:
    """Dimensions that split alike."""

    number: int
    size: int | None
    """None where members differ."""
    arguments: tuple[Place, ...]
    """(number of the argument, its dimension)."""
    results: tuple[Place, ...]
    """(number of the result, its dimension)."""
    ops: tuple[int, ...]
    """The operations that have a factor of it."""
    repeated: bool
    """Whether it stands twice in one array, which an axis can split in one of both places alone."""
    meets: frozenset[int]
    """Classes that stand beside it in an array: one axis cannot split both there."""
    factors: tuple[tuple[int, int], ...] = ()
    """(operation, factor of its rule) of each factor that is of it."""


def dimension_classes(module: PartitionableModule) -> tuple[DimensionClass, ...]:
    """The classes that stand in an argument or a result, in the order of the arguments; size 1 is none."""
    return _Classes(module).found()


def classes_of_values(module: PartitionableModule) -> tuple[tuple[int, ...], ...]:
    """By value and dimension the number of its class, as `dimension_classes` counts them; -1 of none."""
    return _Classes(module).of_values()


class _Classes:
    def __init__(self, module: PartitionableModule) -> None:
        self._module = module
        ranks = [len(value.shape) for value in module.values]
        self._start = list(accumulate(ranks, initial=0))
        self._sets = DisjointSets(self._start[-1])
        self._factors: list[tuple[int, int, int]] = []
        """(operation, factor, one of its places)."""
        for number, op in enumerate(module.ops):
            self._join_factors(number, op)
        for first, second in module.ties:
            if not (module.values[first].constant or module.values[second].constant):
                for at in range(min(ranks[first], ranks[second])):
                    self._sets.join(self._start[first] + at, self._start[second] + at)

    def _join_factors(self, number: int, op: PartitionOp) -> None:
        if op.rule is None:
            return
        seen: dict[int, int] = {}
        for value, dimensions in zip((*op.operands, *op.results), op.rule.mapped, strict=True):
            if self._module.values[value].constant:
                continue
            for at, factors in enumerate(dimensions):
                if factors and op.rule.factors[factors[0]] > 1:
                    self._sets.join(self._start[value] + at, seen.setdefault(factors[0], self._start[value] + at))
        self._factors += [(number, factor, place) for factor, place in seen.items()]

    def of_values(self) -> tuple[tuple[int, ...], ...]:
        arguments, results = self._boundary(self._module.arguments), self._boundary(self._module.results)
        number = _numbers(arguments, results)
        return tuple(
            tuple(
                number.get(self._sets.root(start + at), -1) if size > 1 else -1 for at, size in enumerate(value.shape)
            )
            for start, value in zip(self._start, self._module.values, strict=False)
        )

    def found(self) -> tuple[DimensionClass, ...]:
        arguments, results = self._boundary(self._module.arguments), self._boundary(self._module.results)
        number = _numbers(arguments, results)
        factors: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for op, factor, place in self._factors:
            factors[self._sets.root(place)].append((op, factor))
        repeated, meets = self._company(number)
        return tuple(
            DimensionClass(
                at, self._size(arguments.get(root, ()), results.get(root, ())), tuple(arguments.get(root, ())),
                tuple(results.get(root, ())), tuple(dict.fromkeys(op for op, _ in factors[root])), root in repeated,
                frozenset(meets[root]), tuple(factors[root]),
            )
            for root, at in number.items()
        )  # fmt: skip

    def _boundary(self, values: tuple[int, ...]) -> dict[int, list[Place]]:
        found: dict[int, list[Place]] = defaultdict(list)
        for place, value in enumerate(values):
            for at, size in enumerate(self._module.values[value].shape):
                if size > 1:
                    found[self._sets.root(self._start[value] + at)].append((place, at))
        return dict(found)

    def _size(self, arguments: tuple[Place, ...] | list[Place], results: tuple[Place, ...] | list[Place]) -> int | None:
        module = self._module
        taken = {module.values[module.arguments[place]].shape[at] for place, at in arguments}
        given = {module.values[module.results[place]].shape[at] for place, at in results}
        sizes = taken or given
        return sizes.pop() if len(sizes) == 1 else None

    def _company(self, number: dict[int, int]) -> tuple[set[int], dict[int, set[int]]]:
        """The classes that stand twice in an array, and per class those beside it."""
        repeated: set[int] = set()
        meets: dict[int, set[int]] = defaultdict(set)
        for start, value in zip(self._start, self._module.values, strict=False):
            if value.constant:
                continue
            inside = [self._sets.root(start + at) for at, size in enumerate(value.shape) if size > 1]
            for root in inside:
                if inside.count(root) > 1:
                    repeated.add(root)
                meets[root] |= {number[other] for other in inside if other != root and other in number}
        return repeated, meets


def _numbers(arguments: Mapping[int, list[Place]], results: Mapping[int, list[Place]]) -> dict[int, int]:
    return {root: at for at, root in enumerate(dict.fromkeys([*arguments, *results]))}
