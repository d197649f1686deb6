"""All layouts of a program over its named dimensions: every mesh, and for each axis every option that it has."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence

from jaxstage_ext.search.layout_candidate import LayoutCandidate
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import SearchProblem
from jaxstage_ext.search.space.axis_names import candidate_of
from jaxstage_ext.search.space.axis_options import AxisOption, options
from jaxstage_ext.search.space.mesh_shapes import mesh_shapes

MOST_LISTED = 20_000
"""Combinations up to which the space is listed to count its distinct layouts."""


def size_of_space(problem: SearchProblem) -> int:
    """How many combinations of options there are, an upper bound of the distinct layouts."""
    counts = {size: len(options(problem, size)) for shape in mesh_shapes(problem) for size in shape}
    return sum(math.prod(counts[size] for size in shape) for shape in mesh_shapes(problem))


def can_split(problem: SearchProblem) -> bool:
    """Whether any axis of any mesh can do anything, or an argument keeps a spec."""
    sizes = {size for shape in mesh_shapes(problem) for size in shape}
    return bool(problem.limits.keep) or any(not one.is_unused for size in sizes for one in options(problem, size))


def listed(problem: SearchProblem, most: int) -> dict[LayoutSpecs, LayoutCandidate] | None:
    """Every distinct layout, with the candidate that explains it best; None where there are more than `most`."""
    if size_of_space(problem) > max(most, MOST_LISTED):
        return None
    distinct: dict[LayoutSpecs, LayoutCandidate] = {}
    for candidate in _combined(problem):
        if not is_of_smaller_mesh(problem, specs := canonical(problem, candidate)):
            known = distinct.setdefault(specs, candidate)
            distinct[specs] = min(known, candidate, key=_explained)
        if len(distinct) > most:
            return None
    return {specs_of(problem, candidate): candidate for candidate in distinct.values()}


def _explained(candidate: LayoutCandidate) -> tuple[int, int]:
    """Of candidates that mean one layout the first explains it best: parameters that an axis splits are not stored."""
    return len(candidate.storing), sum(len(axis.splits) for axis in candidate.axes)


def _combined(problem: SearchProblem) -> Iterator[LayoutCandidate]:
    choices = functools.cache(lambda size: options(problem, size))
    for shape in mesh_shapes(problem):
        for chosen in itertools.product(*(choices(size) for size in shape)):
            if is_wanted(problem, shape, chosen):
                yield candidate_of(problem, shape, chosen)


def is_wanted(problem: SearchProblem, shape: tuple[int, ...], chosen: tuple[AxisOption, ...]) -> bool:
    """Whether options on a mesh are no twin of others, and within the limits of what splits a dimension."""
    limits = problem.limits
    if any(_parts(shape, chosen, name) > most for name, most in limits.most_split.items()):
        return False
    if limits.mesh or limits.names:
        return True
    pairs = list(zip(shape, map(_order, chosen), strict=True))
    return problem.order_matters or all(a[0] != b[0] or a <= b for a, b in itertools.pairwise(pairs))


def _parts(shape: tuple[int, ...], chosen: tuple[AxisOption, ...], name: str) -> int:
    return math.prod(size for size, option in zip(shape, chosen, strict=True) if name in option.splits)


def _order(option: AxisOption) -> tuple[bool, list[str]]:
    return option.stores, sorted(option.splits)


def canonical(problem: SearchProblem, candidate: LayoutCandidate) -> LayoutSpecs:
    """The specs with axes named by their place, the same for all that exchange axes of one size or rename them."""
    specs = specs_of(problem, candidate)
    sizes = [size for _, size in specs.mesh]
    is_fixed = problem.order_matters or problem.limits.mesh or problem.limits.names
    places = itertools.permutations(range(len(sizes))) if not is_fixed else [tuple(range(len(sizes)))]
    return min(
        (_renamed(specs, order) for order in places if [sizes[place] for place in order] == sizes),
        key=lambda renamed: str(renamed.arguments),
    )


def is_of_smaller_mesh(problem: SearchProblem, specs: LayoutSpecs) -> bool:
    """Whether two axes next to each other split the same, so that they are one axis of another mesh."""
    if problem.limits.mesh or problem.limits.names:
        return False
    places: dict[str, list[tuple[int, int]]] = {name: [] for name, _ in specs.mesh}
    for leaf, spec in enumerate(specs.arguments):
        for dimension, axes in enumerate(spec or ()):
            for axis in axes:
                places[axis].append((leaf, dimension))
    split = list(places.values())
    pairs = itertools.pairwise(split) if problem.order_matters else itertools.combinations(split, 2)
    return any(one == other for one, other in pairs)


def _renamed(specs: LayoutSpecs, order: Sequence[int]) -> LayoutSpecs:
    names = {name: str(place) for (name, _), place in zip(specs.mesh, order, strict=True)}
    made = {
        spec: tuple(tuple(names[axis] for axis in axes) for axes in spec or ())
        for spec in dict.fromkeys(specs.arguments)
    }
    renamed = tuple(made[spec] for spec in specs.arguments)
    mesh = tuple((str(place), size) for place, (_, size) in enumerate(specs.mesh))
    return LayoutSpecs(mesh, renamed, ())
