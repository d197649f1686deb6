"""What one axis of a mesh may do: which sets of named dimensions it may split, and whether it stores parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jaxstage_ext.search.followed_storage import OF_DATA
from jaxstage_ext.search.search_problem import DimensionRole, SearchedDimension, SearchProblem

MOST_TOGETHER = 4
"""Dimensions that one axis splits at most: Megatron's heads, hidden and vocabulary, and one more."""


class AxisOption(NamedTuple):
    """What an axis of some size does."""

    splits: frozenset[str]
    stores: bool

    @property
    def is_unused(self) -> bool:
        return not self.splits and not self.stores


UNUSED = AxisOption(frozenset(), False)


def single_options(problem: SearchProblem, size: int) -> tuple[AxisOption, ...]:
    """The options of an axis of this size that split one dimension or none."""
    return tuple(_with_storage(problem, size, [frozenset(), *({d.name} for d in splittable(problem, size))]))


def options(problem: SearchProblem, size: int) -> tuple[AxisOption, ...]:
    """All options of an axis of this size."""
    return tuple(_with_storage(problem, size, [frozenset(), *_sets(splittable(problem, size))]))


def options_among(problem: SearchProblem, size: int, names: Iterable[str]) -> tuple[AxisOption, ...]:
    """The options of an axis of this size that split several of these dimensions."""
    chosen = set(names)
    few = [dimension for dimension in splittable(problem, size) if dimension.name in chosen]
    return tuple(_with_storage(problem, size, [one for one in _sets(few) if len(one) > 1]))


def splittable(problem: SearchProblem, size: int) -> list[SearchedDimension]:
    """The dimensions that an axis of this size divides evenly in some argument that is not too small for it."""
    most, least = problem.limits.most_split, problem.smallest_stored
    divided = {
        name
        for argument in problem.arguments
        for name, extent in zip(argument.dimensions, argument.shape, strict=True)
        if name and extent and extent % size == 0 and size <= most.get(name, size)
        if argument.bytes >= least or not argument.is_parameter
    }
    return [dimension for dimension in problem.dimensions if dimension.name in divided]


def can_store(problem: SearchProblem, size: int) -> bool:
    """Whether an axis of this size divides a parameter that is large enough to be stored over it."""
    least = problem.smallest_stored
    return any(
        argument.is_parameter and argument.bytes >= least and any(n and n % size == 0 for n in argument.shape)
        for argument in problem.arguments
    )


def _sets(dimensions: list[SearchedDimension]) -> Iterator[frozenset[str]]:
    """Sets of dimensions of which no two stand in one array, and of which data have no two."""
    grown: list[tuple[int, frozenset[str]]] = [(place, frozenset({d.name})) for place, d in enumerate(dimensions)]
    while grown:
        yield from (names for _, names in grown)
        grown = [
            (place, names | {dimensions[place].name})
            for last, names in grown
            if len(names) < MOST_TOGETHER
            for place in range(last + 1, len(dimensions))
            if not names & dimensions[place].meets
            and all(_go_together(dimensions[place], other) for other in dimensions if other.name in names)
        ]


def _go_together(one: SearchedDimension, other: SearchedDimension) -> bool:
    """Whether an axis may split both: what splits the data besides is the parameters' storage, but for experts."""
    roles = {one.role, other.role}
    return roles.isdisjoint(OF_DATA) or DimensionRole.EXPERT in roles


def _with_storage(problem: SearchProblem, size: int, sets: Iterable[Iterable[str]]) -> Iterator[AxisOption]:
    """An axis of one device, which a mesh of the user's may have, does nothing."""
    if size == 1:
        yield UNUSED
        return
    stored = (False, True) if can_store(problem, size) else (False,)
    for names, stores in itertools.product(sets, stored):
        option = AxisOption(frozenset(names), stores)
        if problem.limits.replicated or not option.is_unused:
            yield option
