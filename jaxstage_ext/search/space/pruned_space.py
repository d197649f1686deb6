"""A space that is too large to try whole: one axis at a time first, then the best options of each axis together."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence

from jaxstage_ext.search.layout_candidate import LayoutCandidate
from jaxstage_ext.search.layout_order import order
from jaxstage_ext.search.layout_result import LayoutEstimate
from jaxstage_ext.search.layout_space import canonical, is_of_smaller_mesh, is_wanted
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import SearchProblem
from jaxstage_ext.search.space.axis_names import candidate_of
from jaxstage_ext.search.space.axis_options import UNUSED, AxisOption, options_among, single_options
from jaxstage_ext.search.space.mesh_shapes import mesh_shapes

Known = Callable[[LayoutSpecs], LayoutEstimate | None]
_JOINED = 6
"""Dimensions whose sets are tried on one axis."""
_IMPROVED = 3
"""Layouts whose axes are varied in the end."""
_ROUNDS = 4
"""Most times that they are."""


def pruned_rounds(problem: SearchProblem, known: Known, most: int) -> Iterator[list[LayoutCandidate]]:
    """Candidates to score, in rounds; each follows from what those before it scored. About `most` in all."""
    return _PrunedSpace(problem, known, most).rounds()


class _PrunedSpace:
    def __init__(self, problem: SearchProblem, known: Known, most: int) -> None:
        self.problem, self.known, self.most = problem, known, most
        self.shapes = mesh_shapes(problem)
        self.sizes = sorted({size for shape in self.shapes for size in shape}, reverse=True)
        self.options: dict[int, list[AxisOption]] = {size: list(single_options(problem, size)) for size in self.sizes}
        self.seen: dict[LayoutCandidate, None] = {}
        self.distinct: set[LayoutSpecs] = set()

    def rounds(self) -> Iterator[list[LayoutCandidate]]:
        yield self._new(self._alone(size, option) for size in self.sizes for option in self.options[size])
        for size in self.sizes:
            joined = options_among(self.problem, size, self._best_dimensions(size))
            self.options[size] += [option for option in joined if option not in self.options[size]]
        yield self._new(self._alone(size, option) for size in self.sizes for option in self.options[size])
        yield self._new(self._combined())
        for _ in range(_ROUNDS):
            varied = self._new(self._varied())
            if not varied:
                return
            yield varied

    def _new(self, candidates: Iterator[LayoutCandidate | None]) -> list[LayoutCandidate]:
        new = []
        for one in dict.fromkeys(candidates):
            if one is None or one in self.seen:
                continue
            specs = canonical(self.problem, one)
            if specs not in self.distinct and not is_of_smaller_mesh(self.problem, specs):
                new.append(one)
                self.distinct.add(specs)
                self.seen[one] = None
        return new

    def _alone(self, size: int, option: AxisOption) -> LayoutCandidate | None:
        """An axis that does this while the other axes of its mesh do nothing."""
        shape = next(shape for shape in self.shapes if size in shape)
        return self._candidate(shape, [option if place == shape.index(size) else UNUSED for place in range(len(shape))])

    def _candidate(self, shape: Sequence[int], chosen: Sequence[AxisOption]) -> LayoutCandidate | None:
        return candidate_of(self.problem, shape, chosen)

    def _rank(self, size: int, option: AxisOption) -> tuple[bool, float, float]:
        return self._order(self._alone(size, option))

    def _order(self, candidate: LayoutCandidate | None) -> tuple[bool, float, float]:
        estimate = None if candidate is None else self.known(specs_of(self.problem, candidate))
        return (True, float("inf"), 0.0) if estimate is None else order(self.problem, estimate)

    def _best_dimensions(self, size: int) -> list[str]:
        alone = [option for option in self.options[size] if len(option.splits) == 1 and not option.stores]
        ranked = sorted(alone, key=lambda option: self._rank(size, option))
        return [name for option in ranked[:_JOINED] for name in option.splits]

    def _combined(self) -> Iterator[LayoutCandidate | None]:
        """Of each mesh the combinations whose axes are the best alone, as many as there is room for."""
        ranked = {
            size: sorted(options, key=lambda option: self._rank(size, option)) for size, options in self.options.items()
        }
        room = max(self.most - len(self.seen), self.most // 2) // max(len(self.shapes), 1)
        for shape in self.shapes:
            for places in _by_sum([len(ranked[size]) for size in shape], max(room, 8)):
                chosen = tuple(ranked[size][place] for size, place in zip(shape, places, strict=True))
                if is_wanted(self.problem, shape, chosen):
                    yield self._candidate(shape, chosen)

    def _varied(self) -> Iterator[LayoutCandidate | None]:
        """The best layouts with one axis changed."""
        best = heapq.nsmallest(_IMPROVED, self.seen, key=self._order)
        for candidate in best:
            shape = tuple(axis.size for axis in candidate.axes)
            chosen = [AxisOption(axis.splits, axis.stores) for axis in candidate.axes]
            for place, size in enumerate(shape):
                for option in self.options[size]:
                    changed = (*chosen[:place], option, *chosen[place + 1 :])
                    if is_wanted(self.problem, shape, changed):
                        yield self._candidate(shape, changed)


def _by_sum(counts: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Places in lists of these lengths, those of the least sum first."""
    total = sum(count - 1 for count in counts)
    every = (places for s in range(total + 1) for places in _summing(counts, s))
    return itertools.islice(every, most)


def _summing(counts: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    if not counts:
        if total == 0:
            yield ()
        return
    for first in range(min(total, counts[0] - 1) + 1):
        yield from ((first, *rest) for rest in _summing(counts[1:], total - first))
