"""`find_shardings`: which sharding a function should have on a target, compared with all others."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from jaxstage_ext.api.inspect import inspect, run
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage.stage_definition import LOWER
from jaxstage_ext.core.stage.stage_error import without_our_frames
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits
from jaxstage_ext.panel.showing import display, marimo_display
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.named_dimensions import give_names
from jaxstage_ext.program.searching.choice_checks import (
    check_budget,
    check_choices,
    check_count,
    check_effort,
    check_form,
)
from jaxstage_ext.program.searching.kinds_table import table_of
from jaxstage_ext.program.searching.program_search import ProgramSearch, SearchBudget, search_program
from jaxstage_ext.program.searching.search_limits import FixedChoices
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.report.table import Table
from jaxstage_ext.search import search_wording
from jaxstage_ext.search.layout_code import CodeForm
from jaxstage_ext.search.layout_result import (
    CompiledFigures,
    CompileEffort,
    Decision,
    LayoutsFound,
    ScoredLayout,
    SearchEnd,
)
from jaxstage_ext.search.layout_table import layout_table
from jaxstage_ext.views import search_forms

_EFFORTS = tuple(one.value for one in CompileEffort)


class ShardingSearch:
    """The layouts of a call: estimates of all, compiled figures of the best of each kind.

    `found` has everything as plain data.
    """

    def __init__(self, search: ProgramSearch) -> None:
        self._search = search

    @property
    def found(self) -> LayoutsFound:
        """All of it as plain data."""
        return self._search.found

    @property
    def program(self) -> Program:
        """The program whose layouts they are."""
        return self._search.program

    @property
    def layouts(self) -> Table:
        """One row a layout, the fastest by estimate first; layouts are numbered from 0."""
        return layout_table(self.found, self._search.room)

    @property
    def best(self) -> ScoredLayout:
        """The fastest of those compiled at the default effort, else the first by estimate that compiles and fits."""
        return self._search.best

    @property
    def own(self) -> ScoredLayout | None:
        """The layout that the call has; None where it has none."""
        return self.found.own

    @property
    def whole(self) -> bool:
        """Whether every layout of the space was compared."""
        return self.found.whole

    @property
    def tried(self) -> int:
        """How many layouts were scored."""
        return self.found.tried

    @property
    def lost(self) -> int:
        """How many could not be scored: the partitioner refused them or died of them."""
        return self.found.lost

    def decisions(self, layout: int | None = None) -> tuple[Decision, ...]:
        """What matters in a layout, `best` where none is named: each choice with what undoing it would cost.

        By estimates, but where `effort` is set by compiles of the layout with and without it.
        """
        return self._search.decisions(self._number(layout))

    def sentences(self, layout: int | None = None) -> tuple[str, ...]:
        """The decisions of a layout in one sentence each; of your own layout also what is wrong with it."""
        return self._search.sentences(self._number(layout))

    def code(self, form: str = CodeForm.IN_SPECS.value, layout: int | None = None) -> str:
        """A layout as code to paste, `best` where none is named.

        Args:
          form: "in_specs", "magic options", "logical axis rules", "explicit sharding", "rules by path", "device_put".
          layout: its number.

        Raises ValueError for an unknown form.
        """
        check_form(form, [one.value for one in CodeForm])
        return self._search.code(CodeForm(form), self._number(layout))

    def confirm(self, layout: int, effort: str = CompileEffort.LOW.value) -> CompiledFigures:
        """Compile a layout for the target: effort "low", or "default" as the compiler does by itself."""
        check_effort(effort, _EFFORTS)
        return self._search.confirm(layout, CompileEffort(effort))

    def open(self, layout: int | None = None) -> Inspection:
        """The call with a layout, compiled at the default effort, as an Inspection beside the others."""
        return Inspection.of(self._search.open_program(self._number(layout)))

    def _number(self, layout: int | None) -> int:
        return self.best.number if layout is None else layout

    def __repr__(self) -> str:
        return search_forms.text(self.found, self._search.room, table_of(self._search))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """The panel of its call, open at the map."""
        return display.mimebundle([self.program])

    def _display_(self) -> Any:
        """What marimo shows: the panel of its call, open at the map."""
        return marimo_display.shown([self.program])

    def to_static_html(self) -> str:
        """The map and the best of each kind as HTML that runs no code."""
        return search_forms.html(self.found, self._search.room, table_of(self._search))


def find_shardings(
    fn: Callable[..., Any],
    *args: Any,
    target: str | Target = "local",
    mesh: Any = None,
    in_specs: Any = None,
    keep: Mapping[str, Any] | None = None,
    budget: float = 60.0,
    executor: Executor | None = None,
    names: Mapping[str, str] | None = None,
    seed: int = 0,
    confirm: int = 3,
    effort: str = CompileEffort.LOW.value,
    replicated: bool = True,
    most_axes: int = 3,
    most_split: Mapping[str, int] | None = None,
    progress: Progress | None = None,
    **kwargs: Any,
) -> ShardingSearch:
    """Find the shardings that a function should have on the devices of a target, which need not be in this machine.

    Layouts are combinations of a mesh and of what its axes do: which named dimensions each splits, and whether it
    stores parameters (FSDP). All are tried where there are few enough, else the best of each axis together. Each is
    estimated by Shardy's propagation without a compile, and the best of each kind are compiled.

    Args:
      fn: a function or a `jax.jit` object; the shardings that it was made with are your own layout.
      *args: arrays, `jax.ShapeDtypeStruct`s or pytrees of them. Arrays that are sharded on a mesh make up your own
        layout, which is compared with the others.
      target: the devices, as of `inspect`: "v5e:2x4", "h100:8", "cpu:8".
      mesh: the mesh of all layouts, such as "data=4,model=2"; with `in_specs` that of your own layout alone.
      in_specs: your own layout on `mesh`, as of `inspect`, to be compared.
      keep: PartitionSpecs that arguments keep in all layouts, by parameter name.
      budget: seconds that the search may take. Compiles of the best layouts come on top; what they leave of it goes to
        compiles of the best one without each of its decisions, from which its sentences then are.
      executor: any `concurrent.futures` executor that partitions, where this package is installed; workers on this
        machine by default. Tried: threads, processes (spawn, forkserver, fork), dask's `client.get_executor()`,
        ipyparallel's `client.executor()` and `client.load_balanced_view().executor`, and for Ray an Executor whose
        `submit` returns `ray.remote(...).remote().future()`.
      names: your names for dimensions, `{"d3": "hidden"}`.
      seed: decides the order in which layouts are tried; what is found in a whole space does not depend on it.
      confirm: how many of the best layouts, of different kinds, are compiled; 0 for none.
      effort: "low" tells whether they compile and fit; "default" also ranks them by their compiled times, and takes
        several times as long for a TPU.
      replicated: whether an axis of the mesh may be unused.
      most_axes: of a mesh.
      most_split: per named dimension the most devices that it is split over; 1: not at all.
      progress: called with the seconds and the best layout so far; what it raises ends the search.
      **kwargs: keyword arguments of `fn`.

    Raises:
      ValueError: in one line, for an argument of this function that cannot be, an unknown target, a mesh or specs that
        cannot be, and a program whose layouts cannot be searched.
      Exception: what JAX raises for the function.
    """
    check_budget(budget, executor)
    check_choices(keep or {}, most_axes, most_split or {})
    check_count(confirm)
    check_effort(effort, _EFFORTS)
    lowered = inspect(fn, *args, stage=LOWER, target=target, mesh=mesh, in_specs=in_specs, **kwargs)
    if names:
        give_names(lowered.program, names)
    fixed = FixedChoices(None if in_specs is not None else mesh, keep or {}, replicated, most_axes, most_split or {})
    return _searched(lowered.program, fixed, SearchBudget(budget, executor, seed), (confirm, effort), progress)


def call_shardings(
    call: Call,
    target: Target,
    fixed: FixedChoices,
    budget: SearchBudget,
    confirm: tuple[int, str],
    progress: Progress | None = None,
    limits: Limits = USUAL,
) -> ShardingSearch:
    """The search of a call that is not staged yet; arguments as of `find_shardings`. Raises as that does; what a stage
    raises has its `inspection`.
    """
    lowered = run(call, LOWER, targets=(target,), limits=limits)
    if lowered.error is not None and (error := lowered.error.exception) is not None:
        error.inspection = lowered  # type: ignore[attr-defined]
        raise without_our_frames(error)
    return _searched(lowered.program, fixed, budget, confirm, progress)


def _compile_decisions(search: ProgramSearch, until: float, progress: Progress | None) -> None:
    """Compile the best layout without each of its decisions; once more where one of these layouts then is the best."""
    for _ in range(2):
        best = search.best.number
        search.compile_decisions(best, until, progress)
        if search.best.number == best:
            break


def _searched(
    program: Program, fixed: FixedChoices, budget: SearchBudget, confirm: tuple[int, str], progress: Progress | None
) -> ShardingSearch:
    count, effort = confirm
    check_count(count)
    check_effort(effort, _EFFORTS)
    began = time.monotonic()
    search = search_program(program, fixed, budget, progress)
    with contextlib.suppress(KeyboardInterrupt):
        count = 0 if search.found.end is SearchEnd.CANCELLED else count
        if count:
            search.confirm_best(count, progress, CompileEffort(effort))
            _compile_decisions(search, began + budget.seconds, progress)
        (progress or silent)(time.monotonic() - began, search_wording.done(search.found))
    return ShardingSearch(search)
