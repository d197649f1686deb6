"""The search of layouts: candidates scored by an executor within a budget, the best so far at any moment."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.search import layout_order, layout_space, search_wording
from jaxstage_ext.search.layout_candidate import LayoutCandidate
from jaxstage_ext.search.layout_order import Searched
from jaxstage_ext.search.layout_result import LayoutEstimate, LayoutsFound, SearchEnd
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.scoring_tasks import Scored, Scoring, scored
from jaxstage_ext.search.search_problem import SearchProblem
from jaxstage_ext.search.space.pruned_space import pruned_rounds

MOST_WHOLE = 600
"""Distinct layouts up to which all of a space are tried."""


@dataclass(frozen=True)
class SearchEffort:
    """How long a search may take, and what does the work."""

    executor: Executor
    budget: float = 60.0
    """Seconds."""
    in_flight: int = 4
    """Tasks that the executor is given at a time."""
    seed: int = 0
    """Decides in which order the layouts of a whole space are tried."""
    most_whole: int = MOST_WHOLE
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)


class _BudgetSpent(Exception):
    pass


class LayoutSearch:
    """One search. What it found is there at any moment, whatever ends it.

    Attributes:
      known: every estimate so far, those of an earlier search among them.
      own: the layout of the user's call; None where it has none.
    """

    def __init__(
        self,
        problem: SearchProblem,
        scoring: Scoring,
        effort: SearchEffort,
        known: MutableMapping[LayoutSpecs, LayoutEstimate] | None = None,
        own: LayoutSpecs | None = None,
    ) -> None:
        """Raises ValueError for a budget of nothing."""
        if not effort.budget > 0:
            raise ValueError(search_wording.no_budget(effort.budget))
        self.problem, self.own = problem, own
        self.known: MutableMapping[LayoutSpecs, LayoutEstimate] = {} if known is None else known
        self._scoring, self._effort = scoring, effort
        self._tried: dict[LayoutSpecs, LayoutCandidate | None] = {}
        self._lost: Counter[str] = Counter()
        self._total = 0
        self._end = SearchEnd.CANCELLED
        self._began = effort.clock()

    def run(self, progress: Progress = silent) -> LayoutsFound:
        """Search until all is tried or the budget is spent, the first layouts at least.

        What `progress` raises ends it, and is raised; `found` has what was found by then.
        """
        self._began, self._end = self._effort.clock(), SearchEnd.CANCELLED
        try:
            if self.own is not None:
                self._score_all({self.own: None}, progress)
            self._end = self._searched(progress)
        except _BudgetSpent:
            self._end = SearchEnd.BUDGET
        return self.found()

    def found(self) -> LayoutsFound:
        """What is known now, the best first."""
        tried, known = dict(self._tried), self.known
        layouts = {specs: (candidate, known[specs]) for specs, candidate in tried.items() if specs in known}
        seconds = self._effort.clock() - self._began
        about = Searched(len(tried), max(self._total, len(tried)), self._lost, self._end, seconds)
        return layout_order.found(self.problem, layouts, self.own, about)

    def score_more(self, layouts: Sequence[LayoutSpecs]) -> list[LayoutEstimate | None]:
        """The estimate of each layout, in or out of the space, outside of the budget; None of one that is lost."""
        unknown = [specs for specs in dict.fromkeys(layouts) if specs not in self.known]
        for specs, estimate in zip(unknown, self._scoring.score(unknown), strict=True):
            self._keep(specs, estimate)
        return [self.known.get(specs) for specs in layouts]

    def _searched(self, progress: Progress) -> SearchEnd:
        if (whole := layout_space.listed(self.problem, self._effort.most_whole)) is not None:
            self._total = len(whole)
            self._score_all(self._ordered(whole), progress)
            return SearchEnd.WHOLE
        self._total = layout_space.size_of_space(self.problem)
        for candidates in pruned_rounds(self.problem, self.known.get, self._effort.most_whole):
            self._score_all({specs_of(self.problem, one): one for one in candidates}, progress)
        return SearchEnd.PRUNED

    def _ordered(self, whole: Mapping[LayoutSpecs, LayoutCandidate]) -> dict[LayoutSpecs, LayoutCandidate]:
        """In an order of the seed, layouts of few used axes first, so that a spent budget leaves good ones."""
        items = list(whole.items())
        random.Random(self._effort.seed).shuffle(items)
        return dict(sorted(items, key=lambda item: sum(not axis.is_unused for axis in item[1].axes)))

    def _score_all(self, layouts: Mapping[LayoutSpecs, LayoutCandidate | None], progress: Progress) -> None:
        new = {specs: candidate for specs, candidate in layouts.items() if specs not in self._tried}
        self._tried |= {specs: candidate for specs, candidate in new.items() if specs in self.known}
        waiting = [specs for specs in new if specs not in self.known]

        left = len(waiting)

        def turn() -> None:
            progress(self._effort.clock() - self._began, self._step())
            self._check_budget(left)

        self._check_budget(left)
        for specs, estimate in scored(self._effort.executor, self._scoring, waiting, self._effort.in_flight, turn):
            self._tried[specs] = new[specs]
            left -= 1
            self._keep(specs, estimate)
            if not isinstance(estimate, LayoutEstimate):
                self._lost[estimate.reason] += 1

    def _check_budget(self, left: int) -> None:
        """Raises _BudgetSpent where it is, some layout of the space is scored, and others are left."""
        spent = self._effort.clock() - self._began >= self._effort.budget
        if spent and left and any(candidate is not None for candidate in self._tried.values()):
            raise _BudgetSpent

    def _keep(self, specs: LayoutSpecs, estimate: Scored) -> None:
        if isinstance(estimate, LayoutEstimate):
            self.known[specs] = estimate

    def _step(self) -> str:
        estimates = [self.known[specs] for specs in list(self._tried) if specs in self.known]
        best = min(estimates, key=lambda estimate: estimate.cost, default=None)
        return search_wording.step(len(self._tried), self._total, best.middle if best else None)
