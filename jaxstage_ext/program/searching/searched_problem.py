"""The problem that a program poses: its arguments by named dimensions, which are parameters, what is fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass, dimension_classes
from jaxstage_ext.analysis.sharding.naming.argument_parts import ArgumentParts, argument_parts
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension, renamed
from jaxstage_ext.core.call import has_method
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule
from jaxstage_ext.program.device.device_figures import device_memory
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.named_dimensions import given_names, named_dimensions
from jaxstage_ext.program.questions.partitioned import SearchableProgram, partitioner_of
from jaxstage_ext.program.searching import problem_wording as wording
from jaxstage_ext.program.searching.expert_dimensions import expert_dimensions
from jaxstage_ext.program.searching.unsharded_call import device_count, unsharded_call
from jaxstage_ext.search.search_problem import (
    ArgumentRole,
    DimensionRole,
    SearchedArgument,
    SearchedDimension,
    SearchLimits,
    SearchProblem,
)


@dataclass(frozen=True)
class PosedProblem:
    """A problem, the program that poses it, and what is to be known of how it was posed."""

    problem: SearchProblem
    searchable: SearchableProgram
    notes: tuple[str, ...]


def posed(program: Program, limits: SearchLimits) -> PosedProblem:
    """The problem of a program. Raises Unavailable where XLA's partitioner does not take the program."""
    searchable = partitioner_of(program)
    dimensions = renamed(named_dimensions(program), given_names(program))
    arguments, results = _leaves(searchable)
    classes = dimension_classes(searchable.module)
    parts = argument_parts(arguments, results, searchable.module, classes)
    parameters, is_wrapped = parts.parameters, has_method(unsharded_call(program.call).fn, "lower")
    problem = SearchProblem(
        arguments=_arguments(searchable, dimensions, parameters),
        dimensions=_dimensions(searchable, dimensions, classes, parts),
        devices=device_count(program),
        twins={} if is_wrapped else _twins(searchable, parameters | parts.carried | parts.simulated),
        results=len(results),
        room=device_memory(program).memory,
        order_matters=_has_hosts(program),
        limits=limits,
    )
    return PosedProblem(problem, searchable, tuple(_notes(arguments, parts)))


def _leaves(searchable: SearchableProgram) -> tuple[list[NamedLeaf], list[NamedLeaf]]:
    """The arguments and the results of the module by their paths."""
    module = searchable.module
    sides = (searchable.arguments, module.arguments), (searchable.results, module.results)
    arguments, results = (
        [NamedLeaf(path or f"token {at}", module.values[value].shape) for at, (path, value) in enumerate(_zip(*side))]
        for side in sides
    )
    return arguments, results


def _zip(paths: Sequence[str], values: Sequence[int]) -> list[tuple[str, int]]:
    return list(zip(paths, values, strict=True))


def _twins(searchable: SearchableProgram, parameters: frozenset[int]) -> dict[int, int]:
    return {one.result: one.argument for one in searchable.pairs if one.tree or one.argument in parameters}


def _notes(arguments: Sequence[NamedLeaf], parts: ArgumentParts) -> list[str]:
    """What it rests on which arguments are parameters, if that is unsure."""
    if parts.simulated:
        return [wording.SIMULATED]
    if not parts.parameters:
        return [wording.NO_PARAMETERS]
    if not parts.assumed:
        return []
    carried = dict.fromkeys(arguments[leaf].path.argument for leaf in sorted(parts.carried))
    return [wording.assumed(parts.assumed, list(carried))]


def _arguments(
    searchable: SearchableProgram, dimensions: Sequence[NamedDimension], parameters: frozenset[int]
) -> tuple[SearchedArgument, ...]:
    """Those of the module. What the compiler is given beside the call's leaves is not for the user to split."""
    of = {place: one.name for one in dimensions for place in one.arguments}
    module, made = searchable.module, []
    for number, (path, value) in enumerate(_zip(searchable.arguments, module.arguments)):
        shape, is_given = module.values[value].shape, searchable.leaves[number] is not None
        role = ArgumentRole.PARAMETER if number in parameters else ArgumentRole.DATA
        own = tuple(of.get((number, axis), "") if is_given else "" for axis in range(len(shape)))
        made.append(SearchedArgument(path, shape, module.values[value].bits, role, own))
    return tuple(made)


def _dimensions(
    searchable: SearchableProgram,
    dimensions: Sequence[NamedDimension],
    classes: Sequence[DimensionClass],
    parts: ArgumentParts,
) -> tuple[SearchedDimension, ...]:
    by_number = {one.number: one for one in classes}
    name_of = {number: one.name for one in dimensions for number in one.classes}
    experts = expert_dimensions(searchable.module, classes, parts.parameters)
    contracted = _contracted(searchable.module, classes)
    return tuple(
        SearchedDimension(one.name, _role(one, parts, experts, contracted), _meets(one, by_number, name_of))
        for one in dimensions
        if one.arguments
    )


def _meets(one: NamedDimension, classes: Mapping[int, DimensionClass], name_of: Mapping[int, str]) -> frozenset[str]:
    met = {name_of[other] for number in one.classes for other in classes[number].meets if other in name_of}
    return frozenset(met - {one.name})


def _contracted(module: PartitionableModule, classes: Sequence[DimensionClass]) -> frozenset[int]:
    """The classes that a matrix product or a convolution sums over."""
    return frozenset(
        one.number
        for one in classes
        for at, factor in one.factors
        if (op := module.ops[at]).is_matmul and op.rule is not None and factor in op.rule.reduction
    )


def _role(
    one: NamedDimension, parts: ArgumentParts, experts: frozenset[int], contracted: frozenset[int]
) -> DimensionRole:
    leaves = {leaf for leaf, _ in one.arguments}
    if not parts.rows.isdisjoint(one.classes):
        return DimensionRole.BATCH
    if not experts.isdisjoint(one.classes):
        return DimensionRole.EXPERT
    if not parts.parameters.isdisjoint(leaves):
        return DimensionRole.MODEL
    if not parts.simulated.isdisjoint(leaves):
        return DimensionRole.SPATIAL
    axes = {axis for _, axis in one.arguments}
    if 0 in axes and len(axes) > 1 and not parts.parameters and not contracted.isdisjoint(one.classes):
        return DimensionRole.MODEL
    return DimensionRole.BATCH if 0 in axes else DimensionRole.SPATIAL


def _has_hosts(program: Program) -> bool:
    """Whether the target's GPUs are in several hosts."""
    return program.target.platform == "cuda" and not program.target.topology.startswith("1x1x")
