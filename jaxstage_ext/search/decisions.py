"""The decisions of a layout that matter: what the same layout would take with each of them undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search import own_candidate
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.layout_result import (
    CollectiveShare,
    CompiledFigures,
    CompiledState,
    Decision,
    DecisionKind,
    LayoutEstimate,
    ScoredLayout,
)
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


class _Time(NamedTuple):
    """What a layout takes, by an estimate or a compile."""

    seconds: float | None
    work: float | None
    parts: Sequence[CollectiveShare]


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
    return most_weighty(found, layout)


def most_weighty(found: Sequence[Decision], layout: ScoredLayout) -> tuple[Decision, ...]:
    """The decisions that matter in a layout, those that matter most first; at most three."""
    weighed = [(_weight(one, layout), one) for one in found]
    return tuple(one for weight, one in sorted(weighed, key=lambda pair: -pair[0]) if weight >= _LEAST_SHARE)[:MOST]


def as_compiled(decision: Decision, with_it: CompiledFigures, without: CompiledFigures) -> Decision:
    """A decision with the figures of two compiles of one effort; as it is where one of them gives no time."""
    if without.state is CompiledState.FAILED or with_it.least is None or without.effort is not with_it.effort:
        return decision
    if without.least is None:
        return replace(decision, without=without.state)
    times = _of_compile(with_it), _of_compile(without)
    of, is_gradient = _collective_of(*times)
    return replace(
        decision,
        seconds=without.least - with_it.least,
        of=of,
        is_gradient=is_gradient,
        effort=with_it.effort,
        without=without.state,
    )


def decision_not_in(problem: SearchProblem, found: Sequence[Decision], own: LayoutSpecs) -> Decision | None:
    """The first decision that the user's own specs do not make, on as many devices, whatever the axis is called."""
    meant = own_candidate.meant(problem, own)
    return next((one for one in found if not any(_makes(axis, one) for axis in meant.axes)), None)


def _makes(axis: MeshAxis, decision: Decision) -> bool:
    if axis.size != decision.size:
        return False
    return axis.stores if decision.kind is DecisionKind.STORE else axis.splits.issuperset(decision.dimensions)


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
    times = _of_estimate(with_it), _of_estimate(without)
    of, is_gradient = _collective_of(*times)
    return Decision(
        kind=undone.kind,
        axis=undone.axis.name,
        size=undone.axis.size,
        dimensions=tuple(sorted(undone.axis.splits)) if undone.kind is DecisionKind.SPLIT else undone.axis.follows,
        seconds=_saved(*times),
        bytes=without.argument_bytes - with_it.argument_bytes,
        of=of,
        is_gradient=is_gradient,
        undone=undone.candidate,
    )


def _of_estimate(estimate: LayoutEstimate) -> _Time:
    return _Time(estimate.middle, estimate.work, estimate.parts)


def _of_compile(figures: CompiledFigures) -> _Time:
    known = figures.compute is not None and figures.memory is not None
    work = (figures.compute or 0.0) + (figures.memory or 0.0) if known else None
    return _Time(figures.least, work, figures.parts or ())


def _saved(with_it: _Time, without: _Time) -> float | None:
    return None if with_it.seconds is None or without.seconds is None else without.seconds - with_it.seconds


def _collective_of(with_it: _Time, without: _Time) -> tuple[CollectiveKind | None, bool]:
    """The collective that most of the difference of the two times goes to; (None, False) where that is the work."""
    if with_it.work is None or without.work is None:
        return None, False
    change: Counter[tuple[CollectiveKind, bool]] = Counter()
    for time, sign in ((without, 1), (with_it, -1)):
        for part in time.parts:
            change[part.kind, part.is_gradient] += sign * (part.seconds or 0.0)  # type: ignore[assignment]
    most = max(change, key=lambda key: abs(change[key]), default=None)
    total = _saved(with_it, without) or 0.0
    if most is None or abs(change[most]) < abs(without.work - with_it.work) or change[most] * total <= 0:
        return None, False
    return most


def _weight(decision: Decision, layout: ScoredLayout) -> float:
    """How much a decision changes, relative to the layout: its time, or its bytes, whichever changes more. What it
    takes to fit weighs most.
    """
    estimate, compiled = layout.estimate, layout.compiled
    if decision.without is CompiledState.DOES_NOT_FIT and compiled and compiled.state is CompiledState.COMPILED:
        return float("inf")
    whole = estimate.middle if decision.effort is None or compiled is None else compiled.least
    time = abs(decision.seconds) / whole if decision.seconds is not None and whole else 0.0
    return max(time, abs(decision.bytes) / max(estimate.argument_bytes, 1))
