"""What storing parameters over an axis splits where the axis splits no data: the computation then follows the storage.

An axis that splits the batch and stores parameters is FSDP: each device gathers what it needs for its own data. Where
all devices along an axis have the same data, XLA computes with the parts as they are stored: tensor parallelism, by
whichever dimension of each parameter is stored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.search.search_problem import DimensionRole, SearchProblem

OF_DATA = frozenset({DimensionRole.BATCH, DimensionRole.SPATIAL})


def is_followed(problem: SearchProblem, axis: MeshAxis) -> bool:
    """Whether the computation follows the parameters stored over an axis."""
    return axis.stores and problem.roles(axis.splits).isdisjoint(OF_DATA)


def with_followed(problem: SearchProblem, candidate: LayoutCandidate, specs: LayoutSpecs) -> LayoutCandidate:
    """A candidate whose axes tell which dimensions they split by storage."""
    return LayoutCandidate(
        tuple(
            replace(axis, follows=_followed(problem, axis, specs.arguments)) if is_followed(problem, axis) else axis
            for axis in candidate.axes
        )
    )


def _followed(problem: SearchProblem, axis: MeshAxis, specs: tuple[AxisSpec | None, ...]) -> tuple[str, ...]:
    """The named dimensions of parameters over an axis beside those that it splits anyway, by the parameters' bytes."""
    held: Counter[str] = Counter()
    for argument, spec in zip(problem.arguments, specs, strict=True):
        if argument.is_parameter and spec is not None:
            for name, axes in zip(argument.dimensions, spec, strict=True):
                if axis.name in axes and name and name not in axis.splits:
                    held[name] += argument.bytes
    return tuple(sorted(held, key=lambda name: (-held[name], name)))
