"""The specs of a layout by groups of leaves: those whose paths differ in numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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


def with_states(groups: Sequence[SpecGroup]) -> tuple[SpecGroup, ...]:
    """The groups, those of an optimizer's state that lie as the parameters that they end in counted with these.

    `params['up']` and `opt[0].mu['up']` of one shape and spec are one group, called by the path of the first.
    """
    first: dict[str, int] = {}
    made: dict[int, list[SpecGroup]] = {}
    for place, group in enumerate(groups):
        paths = (group.pattern[at:] for at, letter in enumerate(group.pattern) if letter in "[." and at)
        like = next((first[path] for path in paths if path in first), place)
        one = groups[like]
        is_state = one.argument != group.argument and (one.shape, one.spec) == (group.shape, group.spec)
        made.setdefault(like if is_state else place, []).append(group)
        if group.pattern.startswith(group.argument):
            first.setdefault(group.pattern.removeprefix(group.argument), place)
    return tuple(_joined(members) for members in made.values())


def _joined(members: Sequence[SpecGroup]) -> SpecGroup:
    first, *others = members
    within = ", ".join(dict.fromkeys(one.argument for one in others))
    return replace(
        first,
        pattern=f"{first.pattern} and {len(others)} alike in {within}" if others else first.pattern,
        leaves=sum(one.leaves for one in members),
        bytes=sum(one.bytes for one in members),
    )
