"""The specs of a layout by groups of leaves: those whose paths differ in numbers alone."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.analysis.sharding.naming.leaf_path import LeafPath
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.search.layout_result import ScoredLayout, SpecGroup
from jaxstage_ext.search.layout_specs import local_bytes
from jaxstage_ext.search.search_problem import SearchedArgument, SearchProblem


def spec_groups(problem: SearchProblem, layout: ScoredLayout) -> tuple[SpecGroup, ...]:
    """The groups in the order of the arguments; leaves of one pattern and unlike specs are groups of their own."""
    alike: dict[tuple[str, tuple[int, ...], AxisSpec | None], list[SearchedArgument]] = {}
    for argument, spec in zip(problem.arguments, layout.specs, strict=True):
        alike.setdefault((LeafPath.of(argument.path).pattern, argument.shape, spec), []).append(argument)
    return tuple(_group(layout, pattern, spec, members) for (pattern, _, spec), members in alike.items())


def _group(layout: ScoredLayout, pattern: str, spec: AxisSpec | None, members: Sequence[SearchedArgument]) -> SpecGroup:
    first, sizes = members[0], dict(layout.mesh)
    return SpecGroup(
        pattern=first.path if len(members) == 1 else pattern,
        argument=LeafPath.of(first.path).argument,
        shape=first.shape,
        spec=spec if spec is not None else ((),) * len(first.shape),
        leaves=len(members),
        bytes=sum(local_bytes(member, spec, sizes) for member in members),
        is_parameter=first.is_parameter,
    )
