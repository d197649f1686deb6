"""The search of a program's layouts, and what is asked of it afterwards."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from jaxstage_ext.program.device.target_title import target_title
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import WORKERS, SearchableProgram, partitioner_of
from jaxstage_ext.program.searching import choice_wording, kept_estimates, layout_confirmation, problem_wording
from jaxstage_ext.program.searching import refusal_wording as wording
from jaxstage_ext.program.searching.choice_checks import NoSuchLayout, check_budget, check_choices, check_dimensions
from jaxstage_ext.program.searching.layout_compiles import LayoutCompiles
from jaxstage_ext.program.searching.layout_scoring import layout_scoring
from jaxstage_ext.program.searching.pasted_layout import pasted_layout
from jaxstage_ext.program.searching.relowered import calls_python, why_not_relowered
from jaxstage_ext.program.searching.scoring_device import scoring_device
from jaxstage_ext.program.searching.search_limits import FixedChoices, search_limits
from jaxstage_ext.program.searching.searched_problem import posed
from jaxstage_ext.program.searching.unsharded_call import (
    can_be_searched,
    check_searched,
    has_own_shardings,
    why_not_searched,
)
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.search import decision_wording, layout_choice
from jaxstage_ext.search.decisions import as_compiled, decision_not_in, decisions, most_weighty
from jaxstage_ext.search.exchange import exchange_wording
from jaxstage_ext.search.exchange.exchange_match import with_match
from jaxstage_ext.search.layout_candidate import LayoutCandidate
from jaxstage_ext.search.layout_code import CodeForm, code
from jaxstage_ext.search.layout_result import (
    CompiledFigures,
    CompiledState,
    CompileEffort,
    Decision,
    LayoutsFound,
    ScoredLayout,
    SearchEnd,
    SpecGroup,
)
from jaxstage_ext.search.layout_search import LayoutSearch, SearchEffort
from jaxstage_ext.search.layout_space import can_split
from jaxstage_ext.search.layout_specs import LayoutSpecs, by_place, on_mesh, specs_of
from jaxstage_ext.search.own_blame import Blame, blame
from jaxstage_ext.search.search_problem import SearchProblem
from jaxstage_ext.search.spec_groups import spec_groups

__all__ = [
    "ProgramSearch",
    "SearchBudget",
    "can_be_searched",
    "kept_search",
    "search_program",
    "why_not_searched",
]

_KEPT = "layout search"


@dataclass(frozen=True)
class SearchBudget:
    """How much a search may take."""

    seconds: float = 60.0
    """For the search; compiles come on top."""
    executor: Executor | None = None
    """None: workers of ours on this machine."""
    seed: int = 0
    cancel: threading.Event | None = None
    """Ends the search with what was found once it is set."""


class _Cancelled(Exception):
    pass


class ProgramSearch:
    """The layouts of a program.

    Attributes:
      program: whose layouts they are, lowered, as the user gave it.
      found: the result so far; `confirm` adds what compiles say.
      problem: what was searched.
      searchable: the program's module.
    """

    def __init__(
        self,
        program: Program,
        problem: SearchProblem,
        search: LayoutSearch,
        found: LayoutsFound,
        notes: tuple[str, ...],
        compiles: bool = True,
    ) -> None:
        self.program, self.problem = program, problem
        self.searchable: SearchableProgram = partitioner_of(program)
        self.found = replace(found, notes=notes)
        self._search, self._can_compile = search, compiles
        self._decisions: dict[int, tuple[Decision, ...]] = {}
        self._blame: tuple[Blame, ...] | None = None
        self._layouts = LayoutCompiles(program, self.searchable)

    @property
    def title(self) -> str:
        """What it is for, in words."""
        return target_title(self.program)

    @property
    def room(self) -> int | None:
        """Bytes of memory of one device; None where unknown."""
        return self.problem.room

    @property
    def best(self) -> ScoredLayout:
        """The layout to take: the first by estimate that compiles and fits, or what is faster at the default effort."""
        return layout_choice.best(self.found.layouts, self.room)

    def layout(self, number: int) -> ScoredLayout:
        """A layout by its number. Raises NoSuchLayout for any other."""
        if number not in range(len(self.found.layouts)):
            raise NoSuchLayout(choice_wording.no_such_layout(number, len(self.found.layouts)))
        return self.found.layouts[number]

    def decisions(self, number: int) -> tuple[Decision, ...]:
        """The decisions of a layout that matter most, by estimates of it without each of them, or by compiles of it
        where `compile_decisions` made them.
        """
        if number not in self._decisions:
            self._decisions[number] = decisions(self.problem, self.layout(number), self._search.score_more)
        return self._decisions[number]

    def compile_decisions(
        self, number: int, until: float | None = None, progress: Progress | None = None
    ) -> tuple[Decision, ...]:
        """Compile a layout without each of its decisions, as hard as it was compiled itself, once its own time is
        known: what `decisions` says of them is from then on of these compiles.

        Begins no compile that would end after `until`, of `time.monotonic`, if it took as long as the layout's own.
        """
        layout, found = self.layout(number), self.decisions(number)
        own = layout.compiled
        for one in found if own is not None and own.least is not None else ():
            if own is None or one.undone is None or one.effort is own.effort or _is_late(own, until):
                continue
            checked = as_compiled(one, own, self._compiled_without(one, one.undone, own.effort, progress))
            found = tuple(checked if other is one else other for other in found)
            self._decisions[number] = most_weighty(found, layout)
        return self.decisions(number)

    def _compiled_without(
        self, decision: Decision, undone: LayoutCandidate, effort: CompileEffort, progress: Progress | None
    ) -> CompiledFigures:
        """What a compile of a layout without a decision says, which is one of those that were found perhaps."""
        specs = by_place(specs_of(self.problem, undone))
        number = next((one.number for one in self.found.layouts if by_place(_specs(one)) == specs), None)
        if number is not None:
            return self.confirm(number, effort, progress)
        title = decision_wording.without(decision)
        return self._layouts.figures(specs_of(self.problem, undone), effort, title, progress)

    def blame(self) -> tuple[Blame, ...]:
        """What is wrong with the user's own layout; empty where there is none, or nothing is wrong with it."""
        own = self.found.own
        if own is None:
            return ()
        if self._blame is None:
            mine = _specs(own)
            others = (on_mesh(_specs(one), mine.mesh) for one in self.found.layouts if not one.is_own)
            references = list(itertools.islice(filter(None, others), 2))
            self._blame = blame(self.problem, mine, references, self._search.score_more)
        return self._blame

    def sentences(self, number: int) -> tuple[str, ...]:
        """What the decisions of a layout are worth, what is wrong with the user's own, and where XLA exchanges other
        things than were estimated, in one sentence each.
        """
        layout = self.layout(number)
        made = tuple(map(decision_wording.sentence, self.decisions(number)))
        blamed = tuple(self._blamed(layout)) if layout.is_own else ()
        difference = layout.compiled.difference if layout.compiled is not None else None
        return (*made, *blamed, *((exchange_wording.otherwise(difference),) if difference is not None else ()))

    def _blamed(self, own: ScoredLayout) -> Iterator[str]:
        """What is wrong with the user's own layout, or what the best one does otherwise."""
        yield from map(decision_wording.blamed, self.blame())
        if not self.blame() and layout_choice.is_clearly_worse(own, self.best):
            other = decision_not_in(self.problem, self.decisions(self.best.number), _specs(own))
            yield from () if other is None else (decision_wording.against_best(other),)

    def spec_groups(self, number: int) -> tuple[SpecGroup, ...]:
        """The specs of a layout by groups of arguments."""
        return spec_groups(self.problem, self.layout(number))

    def code(self, form: CodeForm, number: int) -> str:
        """A layout as code to paste."""
        types = form is CodeForm.EXPLICIT_TYPES
        return code(form, pasted_layout(self.program, self.searchable, self.layout(number), types))

    def codes(self, number: int) -> Mapping[str, str]:
        """A layout in every form, by the form's title."""
        return {form.value: self.code(form, number) for form in CodeForm}

    def open_program(
        self, number: int, progress: Progress | None = None, effort: CompileEffort = CompileEffort.DEFAULT
    ) -> Program:
        """The program with a layout, compiled; its error is in it, but an interrupt is raised, and leaves nothing."""
        return self._layouts.program_of(_specs(self.layout(number)), effort, f"layout {number}", progress)

    def confirm(
        self, number: int, effort: CompileEffort = CompileEffort.LOW, progress: Progress | None = None
    ) -> CompiledFigures:
        """What a compile of a layout says; it stands in `found` from then on."""
        effort = layout_confirmation.effort_of(self.program, effort)
        known = self.layout(number).compiled
        if known is not None and known.effort in (effort, CompileEffort.DEFAULT):
            return known
        layouts = list(self.found.layouts)
        found = self._layouts.figures(_specs(layouts[number]), effort, f"layout {number}", progress)
        figures = with_match(found, layouts[number].estimate)
        layouts[number] = replace(layouts[number], compiled=figures)
        self.found = replace(self.found, layouts=tuple(layouts))
        return figures

    def confirm_best(
        self, count: int = 3, progress: Progress | None = None, effort: CompileEffort = CompileEffort.LOW
    ) -> tuple[int, ...]:
        """Compile the best layouts of different kinds until so many fit; the numbers of those compiled.

        Where estimates and times at low effort disagree on the first, the default effort decides.
        """
        tried: list[int] = []
        while len(tried) < 2 * count and self._can_compile:
            fitting = [n for n in tried if self._compiles(n)]
            number = layout_choice.next_to_compile(self.found.layouts, tried, fitting, self.room)
            if number is None or len(fitting) >= count:
                break
            self.confirm(number, effort, progress)
            tried.append(number)
        for number in layout_choice.contenders(self.found.layouts):
            self.confirm(number, CompileEffort.DEFAULT, progress)
        return tuple(tried)

    def _compiles(self, number: int) -> bool:
        figures = self.layout(number).compiled
        return figures is not None and figures.state is CompiledState.COMPILED


def _is_late(own: CompiledFigures, until: float | None) -> bool:
    """Whether a compile that takes as long as another one would end too late."""
    return until is not None and time.monotonic() + (own.seconds or 0.0) > until


def _specs(layout: ScoredLayout) -> LayoutSpecs:
    return LayoutSpecs(tuple(layout.mesh.items()), layout.specs, layout.results)


def kept_search(program: Program) -> ProgramSearch | None:
    """The newest search of a program; None where there is none. Computes nothing."""
    kept: ProgramSearch | None = program.results.known(_KEPT)
    return kept


def search_program(
    program: Program,
    fixed: FixedChoices | None = None,
    budget: SearchBudget | None = None,
    progress: Progress | None = None,
) -> ProgramSearch:
    """Search the layouts of a program, which is lowered at least; the search is kept with it.

    An interrupt and `budget.cancel` end it with what was found. Raises Unavailable where its layouts cannot be
    searched or none could be scored, MeshError and UnusableChoice for choices that cannot be.
    """
    check_searched(program)
    budget, fixed = budget or SearchBudget(), fixed or FixedChoices()
    check_budget(budget.seconds, budget.executor)
    check_choices(fixed.keep, fixed.most_axes, fixed.most_split)
    searchable = partitioner_of(program)
    problem = posed(program, search_limits(program, searchable, fixed))
    check_dimensions(fixed.most_split, problem.problem.by_name)
    if not can_split(problem.problem):
        raise Unavailable(wording.nothing_to_split(problem.problem.devices))
    notes = (*problem.notes, *_notes(program, searchable, why := why_not_relowered(program, searchable)))
    device = scoring_device(program)
    key = kept_estimates.key_of(program, searchable, device)
    known = kept_estimates.load(key, searchable.module)
    with _Workers(budget.executor) as executor:
        scoring = layout_scoring(program, searchable, device, budget.executor)
        effort = SearchEffort(executor, budget.seconds, in_flight=_in_flight(executor), seed=budget.seed)
        search = LayoutSearch(problem.problem, scoring, effort, known, _own(searchable, problem.problem))
        found = _run(search, budget, progress or silent)
    kept_estimates.keep(key, search.known)
    if not found.layouts and found.end is not SearchEnd.CANCELLED:
        raise Unavailable(
            wording.all_lost(next(iter(found.lost_reasons), wording.nothing_to_split(problem.problem.devices)))
        )
    made = ProgramSearch(program, problem.problem, search, found, notes, compiles=not why)
    program.results.put(_KEPT, made)
    return made


def _notes(program: Program, searchable: SearchableProgram, why_not_compiled: str) -> Iterator[str]:
    """What is to be known of its layouts. Raises Unavailable where none but its own can be made."""
    if why_not_compiled and searchable.explicit:
        raise Unavailable(wording.names_explicit_axes(why_not_compiled))
    if why_not_compiled:
        yield problem_wording.not_compilable(why_not_compiled)
    if calls_python(searchable):
        yield problem_wording.CALLS_PYTHON
    if has_own_shardings(program.call):
        yield problem_wording.JIT_LEFT_OUT


def _run(search: LayoutSearch, budget: SearchBudget, progress: Progress) -> LayoutsFound:
    def told(seconds: float, step: str | None = None) -> None:
        if budget.cancel is not None and budget.cancel.is_set():
            raise _Cancelled
        progress(seconds, step)

    try:
        return search.run(told)
    except (_Cancelled, KeyboardInterrupt):
        return search.found()


def _own(searchable: SearchableProgram, problem: SearchProblem) -> LayoutSpecs | None:
    """The layout that the user gave the call; None where it has no mesh."""
    own = searchable.module.own
    if own is None or not any(spec is not None and any(spec) for spec in own.arguments):
        return None
    results = own.results if own.results is not None else (None,) * problem.results
    return LayoutSpecs(tuple(own.mesh.items()), own.arguments, results)


def _in_flight(executor: Executor) -> int:
    """Tasks to give an executor at a time: as many as it has workers, as far as it says, so that it can be stopped."""
    return 1 + int(getattr(executor, "_max_workers", 8))


@dataclass
class _Workers:
    """The user's executor, or one of ours that ends with the search."""

    given: Executor | None
    own: ThreadPoolExecutor | None = field(default=None)

    def __enter__(self) -> Executor:
        if self.given is not None:
            return self.given
        self.own = ThreadPoolExecutor(WORKERS, thread_name_prefix="jaxstage-layouts")
        return self.own

    def __exit__(self, *error: object) -> None:
        if self.own is not None:
            self.own.shutdown(wait=False, cancel_futures=True)
