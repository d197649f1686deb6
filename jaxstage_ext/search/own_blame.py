"""What is wrong with the user's own specs: which groups of arguments would do better with other ones.

Groups are tried one by one. Arguments of the same dimensions and spec, such as a parameter and its moments, are tried
together too: one alone would only be resharded for the others. Where all that leaves most of what the best reference
saves, pairs are tried: data split by features and parameters split by rows are each right for the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from jaxstage_ext.analysis.sharding.naming.leaf_path import LeafPath
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.search import own_candidate
from jaxstage_ext.search.layout_result import LayoutEstimate
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import SearchProblem

Estimates = Callable[[Sequence[LayoutSpecs]], Sequence[LayoutEstimate | None]]
_LEAST_SHARE = 0.01
_MOST = 3
_MOST_IN_PAIRS = 9
"""Groups, the largest, of which pairs are tried: 36 of them."""
_ENOUGH = 0.5
"""Of what a reference saves: a group that saves so much explains it, and no pairs are tried."""


@dataclass(frozen=True)
class BlamedGroup:
    """Arguments of one spec, and a better one."""

    names: tuple[str, ...]
    """`params['blocks'][#]['up']`, or the one leaf's own path; several where they have equal dimensions."""
    leaves: tuple[int, ...]
    spec: AxisSpec | None
    better: AxisSpec


@dataclass(frozen=True)
class Blame:
    """Groups whose specs make a layout slower or larger: one, or two that do so together."""

    groups: tuple[BlamedGroup, ...]
    seconds: float | None
    """Time that the better specs of these groups alone save, by the estimate; None where times are unknown."""
    bytes: int
    """Argument bytes that they save per device."""
    cost: float
    """Of the layout's cost the share that they save."""

    @property
    def leaves(self) -> frozenset[int]:
        return frozenset(leaf for group in self.groups for leaf in group.leaves)


class _Change(NamedTuple):
    names: tuple[str, ...]
    leaves: tuple[int, ...]
    theirs: AxisSpec


def blame(
    problem: SearchProblem, own: LayoutSpecs, references: Sequence[LayoutSpecs], estimates: Estimates
) -> tuple[Blame, ...]:
    """The groups of which other specs save most, at most three; empty where nothing is found.

    Others are what the candidate that the layout comes closest to has, and what `references` of the same mesh have.
    """
    meant = specs_of(problem, own_candidate.meant(problem, own))
    better = [other for other in (meant, *references) if other.mesh == own.mesh]
    first, *wholes = estimates([own, *better])
    if first is None:
        return ()
    sides = [_changes(problem, own, other) for other in better]
    tried = [(change,) for side in sides for change in (*side, *_together(problem, own, side))]
    found = list(_saving(problem, own, first, tried, estimates))
    gap = max((_share(first, whole) for whole in wholes if whole is not None), default=0.0)
    if max((one.cost for one in found), default=0.0) < _ENOUGH * gap:
        pairs = [pair for side in sides for pair in _pairs(problem, own, side)]
        found += _saving(problem, own, first, pairs, estimates)
    return _apart(found)


def _apart(found: Sequence[Blame]) -> tuple[Blame, ...]:
    """Those that save most and have no argument in common; of about equal ones that of fewer arguments."""
    chosen: list[Blame] = []
    for one in sorted(found, key=lambda one: (-round(one.cost, 2), len(one.leaves), -one.cost)):
        if all(one.leaves.isdisjoint(other.leaves) for other in chosen):
            chosen.append(one)
    return tuple(chosen[:_MOST])


def _changes(problem: SearchProblem, own: LayoutSpecs, other: LayoutSpecs) -> list[_Change]:
    """Each group of equal paths and specs that the other layout shards otherwise."""
    groups: dict[tuple[str, AxisSpec | None, AxisSpec], list[int]] = {}
    for leaf, argument in enumerate(problem.arguments):
        mine, theirs = own.arguments[leaf], other.arguments[leaf]
        if theirs is not None and mine != theirs:
            groups.setdefault((LeafPath.of(argument.path).pattern, mine, theirs), []).append(leaf)
    return [
        _Change((problem.arguments[leaves[0]].path if len(leaves) == 1 else pattern,), tuple(leaves), theirs)
        for (pattern, _, theirs), leaves in groups.items()
    ]


def _together(problem: SearchProblem, own: LayoutSpecs, changes: Sequence[_Change]) -> list[_Change]:
    """Groups of several paths whose dimensions and specs are equal, each as one change."""
    alike: dict[tuple[tuple[str, ...], AxisSpec | None, AxisSpec], list[_Change]] = {}
    for change in changes:
        leaf = change.leaves[0]
        alike.setdefault((problem.arguments[leaf].dimensions, own.arguments[leaf], change.theirs), []).append(change)
    return [_joined(members) for members in alike.values() if len(members) > 1]


def _joined(members: Sequence[_Change]) -> _Change:
    names = tuple(name for member in members for name in member.names)
    return _Change(names, tuple(leaf for member in members for leaf in member.leaves), members[0].theirs)


def _pairs(problem: SearchProblem, own: LayoutSpecs, side: Sequence[_Change]) -> Iterator[tuple[_Change, ...]]:
    """Pairs of the groups of most bytes, those of equal dimensions as one."""
    together = _together(problem, own, side)
    joined = {leaf for change in together for leaf in change.leaves}
    groups = [*together, *(change for change in side if joined.isdisjoint(change.leaves))]
    groups.sort(key=lambda change: -sum(problem.arguments[leaf].bytes for leaf in change.leaves))
    return itertools.combinations(groups[:_MOST_IN_PAIRS], 2)


def _saving(
    problem: SearchProblem,
    own: LayoutSpecs,
    before: LayoutEstimate,
    tried: Sequence[tuple[_Change, ...]],
    estimates: Estimates,
) -> Iterator[Blame]:
    """What each of the changes saves, of those that save something that matters."""
    scored = estimates([_changed(problem, own, changes) for changes in tried])
    for changes, after in zip(tried, scored, strict=True):
        if after is not None and _share(before, after) >= _LEAST_SHARE:
            seconds = None if before.middle is None or after.middle is None else before.middle - after.middle
            groups = tuple(
                BlamedGroup(change.names, change.leaves, own.arguments[change.leaves[0]], change.theirs)
                for change in changes
            )
            yield Blame(groups, seconds, before.argument_bytes - after.argument_bytes, _share(before, after))


def _share(before: LayoutEstimate, after: LayoutEstimate) -> float:
    return (before.cost - after.cost) / before.cost if before.cost else 0.0


def _changed(problem: SearchProblem, own: LayoutSpecs, changes: Sequence[_Change]) -> LayoutSpecs:
    """The layout with the other specs of some groups, whose results follow."""
    theirs = {leaf: change.theirs for change in changes for leaf in change.leaves}
    arguments = tuple(theirs.get(leaf, spec) for leaf, spec in enumerate(own.arguments))
    results = tuple(
        arguments[problem.twins[at]] if spec is not None and problem.twins.get(at) in theirs else spec
        for at, spec in enumerate(own.results)
    )
    return replace(own, arguments=arguments, results=results)
