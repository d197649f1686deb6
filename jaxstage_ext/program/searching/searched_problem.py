"""The problem that a program poses: its arguments by named dimensions, which are parameters, what is fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass, dimension_classes
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf, returned
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension, renamed
from jaxstage_ext.core.call import has_method
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
    parameters, notes = _parameters(arguments, results)
    problem = SearchProblem(
        arguments=_arguments(searchable, dimensions, parameters),
        dimensions=_dimensions(searchable, dimensions, parameters),
        devices=device_count(program),
        twins=_twins(searchable, parameters) if not has_method(unsharded_call(program.call).fn, "lower") else {},
        results=len(results),
        room=device_memory(program).memory,
        order_matters=_has_hosts(program),
        limits=limits,
    )
    return PosedProblem(problem, searchable, tuple(notes))


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


def _parameters(arguments: Sequence[NamedLeaf], results: Sequence[NamedLeaf]) -> tuple[frozenset[int], list[str]]:
    """The numbers of the arguments that are parameters or optimizer state, and what that rests on if it is unsure."""
    found = returned(arguments, results)
    trees: dict[str, list[int]] = {}
    for number, leaf in enumerate(arguments):
        trees.setdefault(leaf.path.argument, []).append(number)
    containers = {name: numbers for name, numbers in trees.items() if len(numbers) > 1}
    alone = {numbers[0] for numbers in trees.values() if len(numbers) == 1}
    if found and not (containers and found <= alone):  # else a result is as large as the data by chance
        return found, []
    if not containers or len(trees) == 1:
        return frozenset(), [wording.NO_PARAMETERS]
    return frozenset(n for numbers in containers.values() for n in numbers), [wording.assumed(list(containers))]


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
    searchable: SearchableProgram, dimensions: Sequence[NamedDimension], parameters: frozenset[int]
) -> tuple[SearchedDimension, ...]:
    classes = {one.number: one for one in dimension_classes(searchable.module)}
    name_of = {number: one.name for one in dimensions for number in one.classes}
    experts = expert_dimensions(searchable.module, tuple(classes.values()), parameters)
    return tuple(
        SearchedDimension(one.name, _role(one, parameters, experts), _meets(one, classes, name_of))
        for one in dimensions
        if one.arguments
    )


def _meets(one: NamedDimension, classes: Mapping[int, DimensionClass], name_of: Mapping[int, str]) -> frozenset[str]:
    met = {name_of[other] for number in one.classes for other in classes[number].meets if other in name_of}
    return frozenset(met - {one.name})


def _role(one: NamedDimension, parameters: frozenset[int], experts: frozenset[int]) -> DimensionRole:
    if not experts.isdisjoint(one.classes):
        return DimensionRole.EXPERT
    if any(leaf in parameters for leaf, _ in one.arguments):
        return DimensionRole.MODEL
    return DimensionRole.BATCH if any(axis == 0 for _, axis in one.arguments) else DimensionRole.SPATIAL


def _has_hosts(program: Program) -> bool:
    """Whether the target's GPUs are in several hosts."""
    return program.target.platform == "cuda" and not program.target.topology.startswith("1x1x")
