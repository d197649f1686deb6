"""The candidate that the user's own specs come closest to."""

from __future__ import annotations

from collections import Counter

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import DimensionRole, SearchedArgument, SearchProblem


def exactly(problem: SearchProblem, specs: LayoutSpecs) -> LayoutCandidate | None:
    """The candidate of which these are the specs of all arguments; None where there is none."""
    candidate = meant(problem, specs)
    return candidate if specs_of(problem, candidate).arguments == specs.arguments else None


def meant(problem: SearchProblem, specs: LayoutSpecs) -> LayoutCandidate:
    """The candidate whose axes split what most arguments with that dimension are split in.

    An axis that splits parameters in other dimensions besides stores them. One that does neither, but splits
    something, is for the dimension in which it splits most.
    """
    axes = []
    for name, size in specs.mesh:
        splits = frozenset(_compatible(problem, _split(problem, specs, name, size)))
        stores = any(
            argument.is_parameter and any(name in axes_ and dim not in splits for dim, axes_ in _places(argument, spec))
            for argument, spec in zip(problem.arguments, specs.arguments, strict=True)
        )
        if not splits and not stores:
            splits = frozenset(_most_split(problem, specs, name))
        axes.append(MeshAxis(name, size, splits, stores))
    return LayoutCandidate(tuple(axes))


def _compatible(problem: SearchProblem, names: list[str]) -> list[str]:
    """Of dimensions that stand in one operation the first."""
    kept: list[str] = []
    for name in names:
        if all(name not in problem.by_name[other].meets for other in kept):
            kept.append(name)
    return kept


def _split(problem: SearchProblem, specs: LayoutSpecs, axis: str, size: int) -> list[str]:
    """The dimensions that an axis splits in more than half of the bytes that have them, those of data first."""
    split: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for argument, spec in zip(problem.arguments, specs.arguments, strict=True):
        for extent, (name, axes) in zip(argument.shape, _places(argument, spec), strict=True):
            if name and extent % size == 0:
                whole[name] += argument.bytes
                split[name] += argument.bytes * (axis in axes)
    most = [name for name in whole if split[name] * 2 > whole[name]]
    return sorted(most, key=lambda name: (problem.by_name[name].role is not DimensionRole.BATCH, -split[name]))


def _most_split(problem: SearchProblem, specs: LayoutSpecs, axis: str) -> list[str]:
    """The dimension in which an axis splits most bytes; none where it splits nothing."""
    split: Counter[str] = Counter()
    for argument, spec in zip(problem.arguments, specs.arguments, strict=True):
        split.update({name: argument.bytes for name, axes in _places(argument, spec) if name and axis in axes})
    return [name for name, _ in split.most_common(1)]


def _places(argument: SearchedArgument, spec: AxisSpec | None) -> list[tuple[str, tuple[str, ...]]]:
    return list(zip(argument.dimensions, spec if spec is not None else ((),) * len(argument.shape), strict=True))
