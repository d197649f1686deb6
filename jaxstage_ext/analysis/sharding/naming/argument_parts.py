"""What a program's arguments are to it: parameters, state that it carries along for each row of a batch, or data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf, returned, trees_of
from jaxstage_ext.analysis.sharding.naming.moving_state import moves_itself
from jaxstage_ext.analysis.sharding.naming.state_rows import StateRows
from jaxstage_ext.analysis.sharding.row_use import RowUse, RowUses
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp


@dataclass(frozen=True)
class ArgumentParts:
    """The arguments by number.

    Attributes:
      parameters: parameters and optimizer state; an ensemble's and the state of chains too.
      rows: the classes of dimensions along which state is a batch: chains, an ensemble, a sequence model's carry.
      assumed: the arguments whose trees were taken for parameters though they do not return.
      carried: the arguments that return with rows, and are no parameters; an array alone may return by chance.
      simulated: the arguments that return as the state of a simulation, whose cells or bodies move each other.
    """

    parameters: frozenset[int] = frozenset()
    rows: frozenset[int] = frozenset()
    assumed: tuple[str, ...] = ()
    carried: frozenset[int] = frozenset()
    simulated: frozenset[int] = frozenset()


def argument_parts(
    arguments: Sequence[NamedLeaf],
    results: Sequence[NamedLeaf],
    module: PartitionableModule,
    classes: Sequence[DimensionClass],
) -> ArgumentParts:
    """The parts of a program's arguments, in the order of the module. What is a guess is in `assumed`."""
    found = returned(arguments, results)
    parts = _trained_parts(arguments, found, module, classes)
    if parts.assumed or not moves_itself(parts.parameters, module, classes):
        return parts
    return replace(parts, parameters=frozenset(), simulated=parts.parameters)


def _trained_parts(
    arguments: Sequence[NamedLeaf],
    found: frozenset[int],
    module: PartitionableModule,
    classes: Sequence[DimensionClass],
) -> ArgumentParts:
    """The parts, where what returns is taken for parameters and their state."""
    trees = trees_of(arguments)
    others = _other_parameters(trees, found, classes)
    state = {name: found.intersection(leaves) for name, leaves in trees.items() if not found.isdisjoint(leaves)}
    rows = StateRows(arguments, module, state, bool(others))
    beside, among = rows.beside_data(classes), rows.of_state(classes)
    if not beside | among:
        parts = _without_rows(found, trees)
        return parts if found else replace(parts, rows=_ensembles(arguments, module, classes, parts.parameters))
    carried = found & _with_any(classes, beside | among if others else beside)
    kept = found - carried
    if others and all(len(arguments[leaf].shape) < 2 for leaf in kept):
        leaves = frozenset(leaf for name in others for leaf in trees[name])
        trees_of_state = frozenset(leaf for one in trees.values() if len(one) > 1 for leaf in one)
        return ArgumentParts(leaves, beside | among, tuple(others), found & trees_of_state)
    return ArgumentParts(kept, beside | among, (), carried)


def _without_rows(found: frozenset[int], trees: Mapping[str, Sequence[int]]) -> ArgumentParts:
    containers = [name for name, leaves in trees.items() if len(leaves) > 1]
    alone = {leaves[0] for leaves in trees.values() if len(leaves) == 1}
    if found and not (containers and found <= alone):  # else a result is as large as the data by chance
        return ArgumentParts(found)
    if not containers or len(trees) == 1:
        return ArgumentParts()
    return ArgumentParts(frozenset(leaf for name in containers for leaf in trees[name]), assumed=tuple(containers))


def _ensembles(
    arguments: Sequence[NamedLeaf],
    module: PartitionableModule,
    classes: Sequence[DimensionClass],
    parameters: frozenset[int],
) -> frozenset[int]:
    """The classes that members of an ensemble are along, of parameters that do not return."""
    uses = RowUses(module)
    return frozenset(
        one.number
        for one in classes
        if all(axis == 0 for _, axis in (*one.arguments, *one.results))
        and parameters.issuperset(leaf for leaf, _ in one.arguments)
        and any(_is_batch(module.ops[op], factor) for op, factor in one.factors)
        and uses.of(one) < RowUse.SUMMED
    )


def _is_batch(op: PartitionOp, factor: int) -> bool:
    """Whether a matrix product has a factor in both operands and the result."""
    if not op.is_matmul or op.rule is None:
        return False
    return all(any(factor in factors for factors in value) for value in op.rule.mapped)


def _other_parameters(
    trees: Mapping[str, Sequence[int]], found: frozenset[int], classes: Sequence[DimensionClass]
) -> list[str]:
    """The trees that do not return and are no batch of data, of which all arrays have one first axis."""
    firsts = [{leaf for leaf, axis in one.arguments if axis == 0} for one in classes]
    return [
        name
        for name, leaves in trees.items()
        if len(leaves) > 1 and found.isdisjoint(leaves) and not any(first.issuperset(leaves) for first in firsts)
    ]


def _with_any(classes: Sequence[DimensionClass], numbers: Collection[int]) -> frozenset[int]:
    return frozenset(leaf for one in classes if one.number in numbers for leaf, _ in one.arguments)
