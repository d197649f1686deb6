"""What a program does along a dimension: works on each row by itself, as on a batch, or lets rows decide on others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import IntEnum

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass, classes_of_values
from jaxstage_ext.analysis.sharding.disjoint_sets import DisjointSets
from jaxstage_ext.ir.partitioning.partitionable_module import LOOP, PartitionableModule, PartitionOp

REDUCE = "stablehlo.reduce"
_SCATTER = "stablehlo.scatter"
_WITH_REGIONS = (LOOP, "stablehlo.case", "stablehlo.if")


class RowUse(IntEnum):
    """How independent the rows of a dimension are; each allows what those before it allow."""

    INDEPENDENT = 0
    """Nothing is summed over it: split alone it takes no collective."""
    REDUCED = 1
    """It is reduced, as for a mean that is shown, and no row depends on what that gives."""
    SUMMED = 2
    """Products sum over it too, as for the gradients of weights, and no row depends on these sums."""
    COUPLED = 3
    """Rows depend on other rows, as features that a matrix product contracts, or neighbours do."""


class RowUses:
    """The uses of a program's classes of dimensions."""

    def __init__(self, module: PartitionableModule) -> None:
        self._module, self._classes = module, classes_of_values(module)
        self._same = DisjointSets(len(module.values))
        for first, second in module.ties:
            self._same.join(first, second)

    def of(self, one: DimensionClass) -> RowUse:
        """The use of a class. What is not certain is COUPLED."""
        sums = self._sums(one)
        if sums is None:
            return RowUse.COUPLED
        products = [number for number in sums if self._module.ops[number].name != REDUCE]
        if self._reaches(one.number, products):
            return RowUse.COUPLED
        if not sums:
            return RowUse.INDEPENDENT
        return RowUse.SUMMED if products or self._reaches(one.number, sums) else RowUse.REDUCED

    def _sums(self, one: DimensionClass) -> list[int] | None:
        """The operations that sum over it; None where one exchanges rows, picks some, or needs all of them."""
        if one.repeated:
            return None
        found: list[int] = []
        for number, factor in one.factors:
            rule = self._module.ops[number].rule
            assert rule is not None
            if factor in rule.permutation | rule.need_replication:
                return None
            if factor in rule.reduction:
                found.append(number)
        lost = [number for number, op in enumerate(self._module.ops) if self._loses(one.number, op)]
        if any(self._module.ops[number].name != _SCATTER for number in set(lost) - set(found)):
            return None
        return sorted({*found, *lost})

    def _loses(self, number: int, op: PartitionOp) -> bool:
        """Whether operands of an operation have the dimension, and none of its results does."""
        if not self._carried(number, op.operands) or self._carried(number, op.results):
            return False
        return op.name not in _WITH_REGIONS and (bool(op.results) or bool(op.target))

    def _carried(self, number: int, values: Iterable[int]) -> bool:
        return any(number in self._classes[value] for value in values)

    def _reaches(self, number: int, sums: Collection[int]) -> bool:
        """Whether a value with the dimension is computed from the result of one of these operations."""
        reached = {self._same.root(value) for at in sums for value in self._module.ops[at].results}
        before = -1
        while reached and before < len(reached):
            before = len(reached)
            for op in self._module.ops:
                if op.name in _WITH_REGIONS or reached.isdisjoint(map(self._same.root, op.operands)):
                    continue
                if self._carried(number, op.results):
                    return True
                reached.update(map(self._same.root, op.results))
        return False
