"""The problem that a program poses: its arguments by named dimensions, which are parameters, what is fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf, returned
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension
from jaxstage_ext.core.call import has_method
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule
from jaxstage_ext.program.device.device_figures import device_memory
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.named_dimensions import boundary_leaves, classes_of, named_dimensions
from jaxstage_ext.program.questions.partitioner_of import partitioner_of
from jaxstage_ext.program.searching import problem_wording as wording
from jaxstage_ext.program.searching.expert_dimensions import expert_dimensions
from jaxstage_ext.program.searching.returned_pairs import returned_pairs
from jaxstage_ext.program.searching.unsharded_program import device_count
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
    """A problem, and what is to be known of how it was posed."""

    problem: SearchProblem
    notes: tuple[str, ...]


def posed(unsharded: Program, limits: SearchLimits, names: Mapping[str, str]) -> PosedProblem:
    """The problem of a program that was lowered without shardings; `names` are the user's for dimensions.

    Raises Unavailable where XLA's partitioner does not take the program.
    """
    module = partitioner_of(unsharded).module
    arguments, results = boundary_leaves(unsharded)
    parameters, notes = _parameters(arguments, results)
    dimensions = named_dimensions(unsharded)
    is_free = not has_method(unsharded.call.fn, "lower")
    problem = SearchProblem(
        arguments=_arguments(module, arguments, dimensions, parameters, names),
        dimensions=_dimensions(module, dimensions, classes_of(unsharded), parameters, names),
        devices=device_count(unsharded),
        twins=returned_pairs(arguments, results) if is_free else {},
        results=len(results),
        room=device_memory(unsharded).memory,
        order_matters=_has_hosts(unsharded),
        limits=limits,
    )
    return PosedProblem(problem, tuple(notes))


def _parameters(arguments: Sequence[NamedLeaf], results: Sequence[NamedLeaf]) -> tuple[frozenset[int], list[str]]:
    """The numbers of the arguments that are parameters or optimizer state, and on what that rests where it is unsure."""
    if found := returned(arguments, results):
        return found, []
    trees: dict[str, list[int]] = {}
    for number, leaf in enumerate(arguments):
        trees.setdefault(leaf.path.argument, []).append(number)
    containers = {name: numbers for name, numbers in trees.items() if len(numbers) > 1}
    if not containers or len(trees) == 1:
        return frozenset(), [wording.NO_PARAMETERS]
    return frozenset(n for numbers in containers.values() for n in numbers), [wording.assumed(list(containers))]


def _arguments(
    module: PartitionableModule,
    leaves: Sequence[NamedLeaf],
    dimensions: Sequence[NamedDimension],
    parameters: frozenset[int],
    names: Mapping[str, str],
) -> tuple[SearchedArgument, ...]:
    of = {place: names.get(one.name, one.name) for one in dimensions for place in one.arguments}
    made = []
    for number, (value, leaf) in enumerate(zip(module.arguments, leaves, strict=True)):
        shape = module.values[value].shape
        role = ArgumentRole.PARAMETER if number in parameters else ArgumentRole.DATA
        own = tuple("" if leaf.is_constant else of.get((number, axis), "") for axis in range(len(shape)))
        made.append(SearchedArgument(leaf.name, shape, module.values[value].bits, role, own))
    return tuple(made)


def _dimensions(
    module: PartitionableModule,
    dimensions: Sequence[NamedDimension],
    classes: Sequence[DimensionClass],
    parameters: frozenset[int],
    names: Mapping[str, str],
) -> tuple[SearchedDimension, ...]:
    name_of = {number: names.get(one.name, one.name) for one in dimensions for number in one.classes}
    by_number = {one.number: one for one in classes}
    experts = expert_dimensions(module, classes, parameters)
    return tuple(
        SearchedDimension(
            names.get(one.name, one.name),
            _role(one, parameters, experts),
            frozenset(
                name_of[other] for number in one.classes for other in by_number[number].meets if other in name_of
            )
            - {names.get(one.name, one.name)},
        )
        for one in dimensions
        if one.arguments
    )


def _role(one: NamedDimension, parameters: frozenset[int], experts: frozenset[int]) -> DimensionRole:
    if not experts.isdisjoint(one.classes):
        return DimensionRole.EXPERT
    if any(leaf in parameters for leaf, _ in one.arguments):
        return DimensionRole.MODEL
    return DimensionRole.BATCH if any(axis == 0 for _, axis in one.arguments) else DimensionRole.SPATIAL


def _has_hosts(program: Program) -> bool:
    """Whether the target's GPUs are in several hosts."""
    return program.target.platform == "cuda" and not program.target.topology.startswith("1x1x")
