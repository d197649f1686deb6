"""Which dimensions are experts: a batch of matrix products of one parameter each, which no data have."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp


def expert_dimensions(
    module: PartitionableModule, classes: Sequence[DimensionClass], parameters: frozenset[int]
) -> frozenset[int]:
    """The numbers of the classes that are a batch of products whose one side is made of parameters alone.

    A batch of the data does not count, nor one that the scan of layers goes along, which no product has.
    """
    owned = _made_of_parameters(module, parameters)
    batches = {number for number, op in enumerate(module.ops) if op.is_matmul and _is_batch_of(op, owned)}
    return frozenset(
        one.number
        for one in classes
        if any(_is_batched(module.ops[op], one.size) for op in one.ops if op in batches)
        and one.arguments
        and all(leaf in parameters for leaf, _ in one.arguments)
        and any(len(module.values[module.arguments[leaf]].shape) > 2 and axis == 0 for leaf, axis in one.arguments)
    )


def _made_of_parameters(module: PartitionableModule, parameters: frozenset[int]) -> set[int]:
    """The values that are computed from parameters and constants alone."""
    owned = {module.arguments[number] for number in parameters}
    owned |= {number for number, value in enumerate(module.values) if value.constant}
    for op in module.ops:
        if op.operands and owned.issuperset(op.operands):
            owned.update(op.results)
    return owned


def _batch_factors(op: PartitionOp) -> set[int]:
    """Factors that both operands and the result of a product have."""
    if op.rule is None:
        return set()
    sides = [{factor for factors in value for factor in factors} for value in op.rule.mapped]
    return set.intersection(*sides) if sides else set()


def _is_batch_of(op: PartitionOp, owned: set[int]) -> bool:
    return bool(_batch_factors(op)) and any(operand in owned for operand in op.operands)


def _is_batched(op: PartitionOp, size: int | None) -> bool:
    return op.rule is not None and any(op.rule.factors[factor] == size for factor in _batch_factors(op))
