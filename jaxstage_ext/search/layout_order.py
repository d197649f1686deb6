"""Layouts in order, the best first, with the front of those that no other beats in time and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jaxstage_ext.search import own_candidate
from jaxstage_ext.search.followed_storage import with_followed
from jaxstage_ext.search.kind_of_layout import kind_of
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_candidate import LayoutCandidate
from jaxstage_ext.search.layout_result import LayoutEstimate, LayoutsFound, ScoredLayout, SearchEnd
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.search.search_problem import SearchProblem


@dataclass(frozen=True)
class Searched:
    """How a search went; see `LayoutsFound`."""

    tried: int
    total: int
    lost: Mapping[str, int]
    end: SearchEnd
    seconds: float


def found(
    problem: SearchProblem,
    layouts: Mapping[LayoutSpecs, tuple[LayoutCandidate | None, LayoutEstimate]],
    own: LayoutSpecs | None,
    about: Searched,
) -> LayoutsFound:
    """The result of a search. Layouts whose arguments alone exceed the memory of a device come last."""
    scored = [_layout(problem, specs, *pair, specs == own) for specs, pair in layouts.items()]
    scored.sort(key=lambda one: (*order(problem, one.estimate), *_complexity(one)))
    front = _front(scored)
    return LayoutsFound(
        layouts=tuple(replace(one, number=number, on_front=number in front) for number, one in enumerate(scored)),
        devices=problem.devices,
        tried=about.tried,
        total=about.total,
        lost=sum(about.lost.values()),
        end=about.end,
        seconds=about.seconds,
        lost_reasons=dict(about.lost),
    )


def order(problem: SearchProblem, estimate: LayoutEstimate) -> tuple[bool, float, float]:
    """What layouts are sorted by: costs that agree in three digits are one, of which the smaller comes first."""
    exceeds = problem.room is not None and estimate.argument_bytes > problem.room
    return exceeds, float(f"{estimate.cost:.2e}"), float(f"{estimate.argument_bytes:.1e}")


def _complexity(layout: ScoredLayout) -> tuple[int, int, str]:
    axes = layout.candidate.axes if layout.candidate else ()
    uses = sum(1 + len(axis.splits) + axis.stores for axis in axes)
    return uses, list(LayoutKind).index(layout.kind), str(layout.candidate)


def _layout(
    problem: SearchProblem,
    specs: LayoutSpecs,
    candidate: LayoutCandidate | None,
    estimate: LayoutEstimate,
    is_own: bool,
) -> ScoredLayout:
    meant = candidate or own_candidate.meant(problem, specs)
    exact = candidate or own_candidate.exactly(problem, specs)
    exact = exact and with_followed(problem, exact, specs)
    return ScoredLayout(
        0, exact, dict(specs.mesh), kind_of(problem, meant), specs.arguments, specs.results, estimate, is_own=is_own
    )


def _front(layouts: list[ScoredLayout]) -> set[int]:
    """The numbers of layouts than which no other is both at least as fast and at least as small."""
    front, smallest = set(), float("inf")
    places = sorted(range(len(layouts)), key=lambda n: (layouts[n].estimate.cost, layouts[n].estimate.argument_bytes))
    for place in places:
        if layouts[place].estimate.argument_bytes < smallest:
            smallest = layouts[place].estimate.argument_bytes
            front.add(place)
    return front
