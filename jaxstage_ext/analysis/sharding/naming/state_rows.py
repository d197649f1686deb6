"""Along which dimensions the state that a program returns is a batch: rows that it works on one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.row_use import REDUCE, RowUse, RowUses
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule


class StateRows:
    """The rows of what returns, by classes of dimensions.

    A parameter's features are none: either rows of them depend on each other, or they are not the first axis of all
    that has them.
    """

    def __init__(
        self,
        arguments: Sequence[NamedLeaf],
        module: PartitionableModule,
        state: Mapping[str, Collection[int]],
        has_others: bool,
    ) -> None:
        self._arguments, self._module, self._state, self._has_others = arguments, module, state, has_others
        self._all = frozenset(leaf for leaves in state.values() for leaf in leaves)
        self._uses = RowUses(module)

    def beside_data(self, classes: Sequence[DimensionClass]) -> frozenset[int]:
        """Those that data have too: the batch that carried state is of."""
        return self._those(classes, lambda one: self._is_batch(one) or self._is_carry(one))

    def of_state(self, classes: Sequence[DimensionClass]) -> frozenset[int]:
        """Those that most state has: chains, walkers, members of an ensemble."""
        return self._those(classes, self._is_most)

    def _those(self, classes: Sequence[DimensionClass], are_rows: Callable[[DimensionClass], bool]) -> frozenset[int]:
        return frozenset(one.number for one in classes if self._of(one) and are_rows(one))

    def _of(self, one: DimensionClass) -> frozenset[int]:
        """The arrays of the state that have a class."""
        return self._all.intersection(leaf for leaf, _ in one.arguments)

    def _data(self, one: DimensionClass) -> list[tuple[int, int]]:
        """(rank, axis) in the arrays of data that have a class."""
        return [(len(self._arguments[leaf].shape), axis) for leaf, axis in one.arguments if leaf not in self._all]

    def _is_batch(self, one: DimensionClass) -> bool:
        """First axis of data, and independent; or of gradients' sums, and the first axis of all that has it."""
        ranks = [rank for rank, axis in self._data(one) if axis == 0]
        if not ranks:
            return False
        most = RowUse.SUMMED if max(ranks) > 1 and _leads(one) else RowUse.INDEPENDENT
        return self._uses.of(one) <= most

    def _is_carry(self, one: DimensionClass) -> bool:
        """First axis of a whole tree beside parameters, and the batch of data whose first axis is time."""
        held = self._of(one)
        whole = [leaves for leaves in self._state.values() if held.issuperset(leaves)]
        beside = self._all - held
        return (
            bool(whole)
            and all(axis == 0 for leaf, axis in one.arguments if leaf in held)
            and any(0 < axis < rank - 1 for rank, axis in self._data(one))
            and (self._has_others or any(len(self._arguments[leaf].shape) > 1 for leaf in beside))
            and self._uses.of(one) <= RowUse.SUMMED
        )

    def _is_most(self, one: DimensionClass) -> bool:
        return (
            _leads(one)
            and 2 * self._elements(self._of(one)) >= self._elements(self._all)
            and (not one.factors or any(self._works_within(op) for op in one.ops))
            and self._uses.of(one) <= RowUse.REDUCED
        )

    def _elements(self, leaves: Collection[int]) -> int:
        return sum(math.prod(self._arguments[leaf].shape) for leaf in leaves)

    def _works_within(self, op: int) -> bool:
        """Whether it is more than arithmetic by elements, in which every axis is a batch."""
        return self._module.ops[op].is_matmul or self._module.ops[op].name == REDUCE


def _leads(one: DimensionClass) -> bool:
    return all(axis == 0 for _, axis in (*one.arguments, *one.results))
