"""The candidate that the user's own specs come closest to."""

from __future__ import annotations

from collections import Counter

from jaxstage_ext.search.layout_candidate import AxisSpec, Candidate, MeshAxis
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import SearchedArgument, SearchProblem


def exactly(problem: SearchProblem, specs: LayoutSpecs) -> Candidate | None:
    """The candidate of which these are the specs of all arguments; None where there is none."""
    candidate = meant(problem, specs)
    return candidate if specs_of(problem, candidate).arguments == specs.arguments else None


def meant(problem: SearchProblem, specs: LayoutSpecs) -> Candidate:
    """The candidate whose axes split what most arguments with that dimension are split in.

    An axis also stores parameters where it splits any of them in another dimension.
    """
    axes = []
    for name, size in specs.mesh:
        splits = frozenset(_split(problem, specs, name, size))
        stores = any(
            argument.is_parameter and any(name in axes_ and dim not in splits for dim, axes_ in _places(argument, spec))
            for argument, spec in zip(problem.arguments, specs.arguments, strict=True)
        )
        axes.append(MeshAxis(name, size, splits, stores))
    return Candidate(tuple(axes))


def _split(problem: SearchProblem, specs: LayoutSpecs, axis: str, size: int) -> list[str]:
    """The dimensions that an axis splits in at least half of the bytes that have them and that it divides."""
    split: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for argument, spec in zip(problem.arguments, specs.arguments, strict=True):
        for extent, (name, axes) in zip(argument.shape, _places(argument, spec), strict=True):
            if name and extent % size == 0:
                whole[name] += argument.bytes
                split[name] += argument.bytes * (axis in axes)
    return [name for name in whole if split[name] * 2 > whole[name]]


def _places(argument: SearchedArgument, spec: AxisSpec) -> list[tuple[str, tuple[str, ...]]]:
    return list(zip(argument.dimensions, spec, strict=True))
