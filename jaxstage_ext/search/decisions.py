"""The decisions of a layout that matter: what the same layout would take with each of them undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.layout_result import Decision, DecisionKind, LayoutEstimate, ScoredLayout
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import SearchProblem

Estimates = Callable[[Sequence[LayoutSpecs]], Sequence[LayoutEstimate | None]]
MOST = 3
_LEAST_SHARE = 0.01
"""Of the layout's time, and of its arguments' bytes, below which a decision does not matter."""


class _Undone(NamedTuple):
    kind: DecisionKind
    axis: MeshAxis
    candidate: LayoutCandidate


def decisions(problem: SearchProblem, layout: ScoredLayout, estimates: Estimates) -> tuple[Decision, ...]:
    """The decisions of a layout that change its time or its bytes, those that matter most first; at most three.

    Empty of a layout of the user's that is no candidate: `blame` says what is wrong with it.
    """
    if layout.candidate is None:
        return ()
    undone = list(_undone(layout.candidate))
    scored = estimates([specs_of(problem, one.candidate) for one in undone])
    found = [
        _decision(one, layout.estimate, other) for one, other in zip(undone, scored, strict=True) if other is not None
    ]
    weighed = [(_weight(one, layout.estimate), one) for one in found]
    return tuple(one for weight, one in sorted(weighed, key=lambda pair: -pair[0]) if weight >= _LEAST_SHARE)[:MOST]


def _undone(candidate: LayoutCandidate) -> Iterator[_Undone]:
    for place, axis in enumerate(candidate.axes):
        before, after = candidate.axes[:place], candidate.axes[place + 1 :]
        if axis.splits:
            without = replace(axis, splits=frozenset())
            yield _Undone(DecisionKind.SPLIT, axis, LayoutCandidate((*before, without, *after)))
        if axis.stores:
            without = replace(axis, stores=False)
            yield _Undone(DecisionKind.STORE, axis, LayoutCandidate((*before, without, *after)))


def _decision(undone: _Undone, with_it: LayoutEstimate, without: LayoutEstimate) -> Decision:
    seconds = None if with_it.middle is None or without.middle is None else without.middle - with_it.middle
    of, is_gradient = _collective_of(with_it, without)
    return Decision(
        kind=undone.kind,
        axis=undone.axis.name,
        size=undone.axis.size,
        dimensions=tuple(sorted(undone.axis.splits)) if undone.kind is DecisionKind.SPLIT else undone.axis.follows,
        seconds=seconds,
        bytes=without.argument_bytes - with_it.argument_bytes,
        of=of,
        is_gradient=is_gradient,
    )


def _collective_of(with_it: LayoutEstimate, without: LayoutEstimate) -> tuple[CollectiveKind | None, bool]:
    """The collective that most of the difference of the two times goes to; (None, False) where that is the work."""
    if with_it.work is None or without.work is None:
        return None, False
    change: Counter[tuple[CollectiveKind, bool]] = Counter()
    for estimate, sign in ((without, 1), (with_it, -1)):
        for part in estimate.parts:
            change[part.kind, part.is_gradient] += sign * (part.seconds or 0.0)  # type: ignore[assignment]
    most = max(change, key=lambda key: abs(change[key]), default=None)
    total = (without.middle or 0.0) - (with_it.middle or 0.0)
    if most is None or abs(change[most]) < abs(without.work - with_it.work) or change[most] * total <= 0:
        return None, False
    return most


def _weight(decision: Decision, estimate: LayoutEstimate) -> float:
    """How much a decision changes, relative to the layout: its time, or its bytes, whichever changes more."""
    time = abs(decision.seconds) / estimate.middle if decision.seconds is not None and estimate.middle else 0.0
    return max(time, abs(decision.bytes) / max(estimate.argument_bytes, 1))
