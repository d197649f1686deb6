"""What is wrong with the user's own specs: which group of arguments would do better with other ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from jaxstage_ext.analysis.sharding.naming.leaf_path import LeafPath
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.search import own_candidate
from jaxstage_ext.search.layout_result import LayoutEstimate
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import SearchProblem

Estimates = Callable[[Sequence[LayoutSpecs]], Sequence[LayoutEstimate | None]]
_LEAST_SHARE = 0.01
_MOST = 3


@dataclass(frozen=True)
class Blame:
    """Arguments of equal paths but for numbers whose spec makes a layout slower or larger."""

    group: str
    """`params['blocks'][#]['up']`, or the one leaf's own path."""
    leaves: tuple[int, ...]
    spec: AxisSpec | None
    better: AxisSpec
    seconds: float | None
    """Time that the better spec of this group alone saves, by the estimate; None where times are unknown."""
    bytes: int
    """Argument bytes that it saves per device."""
    cost: float
    """Of the layout's cost the share that it saves."""


def blame(
    problem: SearchProblem, own: LayoutSpecs, references: Sequence[LayoutSpecs], estimates: Estimates
) -> tuple[Blame, ...]:
    """The groups of which another spec alone saves most, at most three.

    Others are what the candidate that the layout comes closest to has, and what `references` of the same mesh have.
    """
    better = [specs_of(problem, own_candidate.meant(problem, own)), *references]
    changed = [one for other in better if other.mesh == own.mesh for one in _changed(problem, own, other)]
    first, *scored = estimates([own, *(specs for _, _, _, specs in changed)])
    if first is None:
        return ()
    found: dict[str, Blame] = {}
    for (name, leaves, spec, _), estimate in zip(changed, scored, strict=True):
        if estimate is None or spec is None:
            continue
        one = _blame(name, leaves, own.arguments[leaves[0]], spec, first, estimate)
        if one.cost >= _LEAST_SHARE and (name not in found or one.cost > found[name].cost):
            found[name] = one
    return tuple(sorted(found.values(), key=lambda one: -one.cost)[:_MOST])


def _changed(
    problem: SearchProblem, own: LayoutSpecs, other: LayoutSpecs
) -> Iterator[tuple[str, tuple[int, ...], AxisSpec | None, LayoutSpecs]]:
    """For each group of equal specs that the other layout shards otherwise the layout with its specs there."""
    groups: dict[tuple[str, AxisSpec | None, AxisSpec | None], list[int]] = {}
    for leaf, argument in enumerate(problem.arguments):
        mine, theirs = own.arguments[leaf], other.arguments[leaf]
        if mine != theirs:
            groups.setdefault((LeafPath.of(argument.path).pattern, mine, theirs), []).append(leaf)
    for (pattern, _, theirs), leaves in groups.items():
        arguments = tuple(theirs if leaf in leaves else spec for leaf, spec in enumerate(own.arguments))
        name = problem.arguments[leaves[0]].path if len(leaves) == 1 else pattern
        results = tuple(
            arguments[problem.twins[at]] if spec is not None and problem.twins.get(at) in leaves else spec
            for at, spec in enumerate(own.results)
        )
        yield name, tuple(leaves), theirs, replace(own, arguments=arguments, results=results)


def _blame(
    name: str,
    leaves: tuple[int, ...],
    spec: AxisSpec | None,
    better: AxisSpec,
    before: LayoutEstimate,
    after: LayoutEstimate,
) -> Blame:
    seconds = None if before.middle is None or after.middle is None else before.middle - after.middle
    saved = (before.cost - after.cost) / before.cost if before.cost else 0.0
    return Blame(name, leaves, spec, better, seconds, before.argument_bytes - after.argument_bytes, saved)
