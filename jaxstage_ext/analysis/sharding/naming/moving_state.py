"""Whether what a program returns is the state of a simulation: cells or bodies that move each other, no weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp


def moves_itself(state: Collection[int], module: PartitionableModule, classes: Sequence[DimensionClass]) -> bool:
    """Whether elements of these arguments meet neighbours or each other, and no product of data reads any argument.

    Weights are contracted with data, or updated element by element; a grid's cells and bodies do neither.
    """
    if not state or any(_is_product(module, op) for op in module.ops):
        return False
    held = [one for one in classes if any(leaf in state for leaf, _ in one.arguments)]
    return any(_couples(module, one) for one in held)


def _is_product(module: PartitionableModule, op: PartitionOp) -> bool:
    """Whether it multiplies what is not constant: a stencil is a convolution with a constant."""
    return op.is_matmul and not any(module.values[value].constant for value in op.operands)


def _couples(module: PartitionableModule, one: DimensionClass) -> bool:
    """Whether rows of a class are exchanged, or meet the other rows of it."""
    if one.repeated:
        return True
    rules = [(module.ops[number].rule, factor) for number, factor in one.factors]
    return any(rule is not None and factor in rule.permutation | rule.need_replication for rule, factor in rules)
