"""What the axes of a mesh are called, by what they do."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.search_problem import DimensionRole, SearchProblem
from jaxstage_ext.search.space.axis_options import AxisOption

_NAMES = (
    (DimensionRole.EXPERT, "expert"),
    (DimensionRole.BATCH, "data"),
    (DimensionRole.MODEL, "model"),
    (DimensionRole.SPATIAL, "space"),
)


def candidate_of(problem: SearchProblem, shape: Sequence[int], chosen: Sequence[AxisOption]) -> LayoutCandidate:
    """The candidate of a mesh and what each of its axes does; axes of size 1 are left out of a chosen mesh."""
    names = [name for name, _ in problem.limits.mesh] or list(problem.limits.names)
    axes: list[MeshAxis] = []
    for size, option in zip(shape, chosen, strict=True):
        taken = {axis.name for axis in axes}
        name = names.pop(0) if names else _unlike(_name(problem, option), taken)
        axes.append(MeshAxis(name, size, option.splits, option.stores))
    return LayoutCandidate(tuple(axes))


def _name(problem: SearchProblem, option: AxisOption) -> str:
    roles = problem.roles(option.splits)
    if option.stores and DimensionRole.BATCH in roles:
        return "fsdp"
    default = "model" if option.stores else "replica"
    return next((name for role, name in _NAMES if role in roles), default)


def _unlike(name: str, taken: set[str]) -> str:
    """The name, or the first of `data2`, `data3`, ... that no axis has."""
    number = 2
    while name in taken:
        name, number = f"{name.rstrip('23456789')}{number}", number + 1
    return name
