"""The search of layouts on a made-up transformer whose costs are counted by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from made_up_layouts import MadeUp, scoring

from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.search import layout_choice, layout_space
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import (
    CompiledFigures,
    CompiledState,
    CompileEffort,
    LayoutEstimate,
    LayoutsFound,
    ScoredLayout,
    SearchEnd,
)
from jaxstage_ext.search.layout_search import LayoutSearch, SearchEffort
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.search_problem import (
    ArgumentRole,
    DimensionRole,
    SearchedArgument,
    SearchedDimension,
    SearchLimits,
    SearchProblem,
)
from jaxstage_ext.search.space.mesh_shapes import mesh_shapes

SMALL = MadeUp(dict(batch=512, time=256, d_model=512, heads=8, head_size=64, hidden=2048, vocab=4096))
MID = MadeUp()
BIG = MadeUp(dict(batch=8, time=512, d_model=8192, heads=64, head_size=128, hidden=32768, vocab=32000))

TWO_AXES = SearchLimits(most_axes=2)


@pytest.fixture(scope="module")
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as made:
        yield made


def searched(model: MadeUp, executor: ThreadPoolExecutor, most: int = 100_000, **changes: object) -> LayoutsFound:
    problem = model.problem(**changes)
    return LayoutSearch(problem, model.scoring, SearchEffort(executor, most_whole=most)).run()


@pytest.mark.parametrize(("model", "axes"), [(SMALL, 2), (MID, 3), (BIG, 2)], ids=["small", "mid", "big"])
def test_the_pruned_search_finds_the_best_of_the_whole_space(
    model: MadeUp, axes: int, executor: ThreadPoolExecutor
) -> None:
    limits = SearchLimits(most_axes=axes)
    whole = searched(model, executor, limits=limits)
    pruned = searched(model, executor, most=300, limits=limits)
    assert whole.whole and not pruned.whole
    assert pruned.tried < whole.tried / 2
    assert pruned.layouts[0].estimate.cost == pytest.approx(whole.layouts[0].estimate.cost, rel=1e-3)


def test_textbook_kinds(executor: ThreadPoolExecutor) -> None:
    models = {"small": SMALL, "mid": MID, "big": BIG}
    kinds = {name: searched(model, executor, limits=TWO_AXES).layouts[0].kind for name, model in models.items()}
    assert kinds == {"small": LayoutKind.DATA, "mid": LayoutKind.DATA_TENSOR, "big": LayoutKind.TENSOR}
    layouts = searched(BIG, executor, limits=TWO_AXES).layouts
    least = min(one.estimate.argument_bytes for one in layouts)
    tight = searched(BIG, executor, limits=TWO_AXES, room=least)
    assert tight.layouts[0].estimate.argument_bytes == least < layouts[0].estimate.argument_bytes


def test_the_space_of_a_batch_and_a_width_counted_by_hand() -> None:
    """An axis splits the batch or not and the weight or not: 4 uses. One axis of 4: 4; two of 2, unlike: 6."""
    dims = (
        SearchedDimension("batch", DimensionRole.BATCH, frozenset({"width"})),
        SearchedDimension("width", DimensionRole.MODEL, frozenset({"batch"})),
    )
    weight = SearchedArgument("w", (8,), 32, ArgumentRole.PARAMETER, ("width",))
    data = SearchedArgument("x", (64,), 32, ArgumentRole.DATA, ("batch",))
    listed = layout_space.listed(SearchProblem((weight, data), dims, 4), 10_000)
    assert listed is not None and len(listed) == 10
    assert mesh_shapes(SearchProblem((weight, data), dims, 12)) == ((12,), (6, 2), (4, 3), (3, 2, 2))


def test_what_ends_a_search_keeps_what_it_found(executor: ThreadPoolExecutor) -> None:
    ticks = itertools.count()
    effort = SearchEffort(executor, budget=20, clock=lambda: float(next(ticks)))
    spent = LayoutSearch(MID.problem(limits=TWO_AXES), MID.scoring, effort).run()
    assert spent.end is SearchEnd.BUDGET and 0 < spent.tried < spent.total and not spent.whole
    stopped = LayoutSearch(MID.problem(limits=TWO_AXES), MID.scoring, SearchEffort(executor))
    turns = itertools.count(1)

    def stop(seconds: float, step: str | None = None) -> None:
        if next(turns) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped.run(stop)
    found = stopped.found()
    assert found.end is SearchEnd.CANCELLED and 0 < found.tried < found.total
    with pytest.raises(ValueError, match="budget"):
        LayoutSearch(MID.problem(), MID.scoring, SearchEffort(executor, budget=0))


def test_a_budget_spent_on_the_last_layout_has_tried_all(executor: ThreadPoolExecutor) -> None:
    """Each look at the clock is a second, and all layouts are one task."""
    ticks = itertools.count()
    effort = SearchEffort(executor, budget=0.5, clock=lambda: float(next(ticks)))
    whole = LayoutSearch(MID.problem(limits=TWO_AXES), replace(MID.scoring, at_once=10_000), effort).run()
    assert whole.end is SearchEnd.WHOLE and whole.tried == whole.total


def test_an_axis_of_one_device_does_nothing(executor: ThreadPoolExecutor) -> None:
    limits = SearchLimits(mesh=(("one", 1), ("data", 8)), replicated=False)
    layouts = searched(MID, executor, limits=limits).layouts
    assert {axis.is_unused for one in layouts for axis in one.candidate.axes[:1]} == {True}  # type: ignore[union-attr]
    assert {axis.is_unused for one in layouts for axis in one.candidate.axes[1:]} == {False}  # type: ignore[union-attr]
    alone = searched(MID, executor, limits=SearchLimits(mesh=(("data", 8),), replicated=False))
    assert [one.specs for one in layouts] == [one.specs for one in alone.layouts]


def test_lost_layouts_are_counted_and_the_known_are_not_scored_twice(executor: ThreadPoolExecutor) -> None:
    asked: list[LayoutSpecs] = []

    def some(layouts: Sequence[LayoutSpecs]) -> list[LayoutEstimate | Unavailable]:
        asked.extend(layouts)
        scores = MID.score(layouts)
        return [
            Unavailable("died") if specs.mesh[0][1] == 8 else one for specs, one in zip(layouts, scores, strict=True)
        ]

    known: dict[LayoutSpecs, LayoutEstimate] = {}
    problem = MID.problem(limits=TWO_AXES)
    first = LayoutSearch(problem, scoring(some), SearchEffort(executor), known).run()
    of_eight = [specs for specs in asked if specs.mesh[0][1] == 8]
    assert first.lost == len(of_eight) == first.lost_reasons["died"] and first.lost + len(first.layouts) == first.tried
    asked.clear()
    second = LayoutSearch(problem, scoring(some), SearchEffort(executor, seed=7), known).run()
    assert sorted(map(str, asked)) == sorted(map(str, of_eight))
    assert second.layouts == first.layouts


def test_what_the_user_fixes_holds_in_every_layout(executor: ThreadPoolExecutor) -> None:
    tokens = len(MID.problem().arguments) - 1
    kept = SearchLimits(
        most_axes=2, names=("rows",), keep={tokens: (("rows",), ())}, replicated=False, most_split={"vocab": 2}
    )
    found = searched(MID, executor, limits=kept)
    assert all(layout.specs[tokens] == (("rows",), ()) for layout in found.layouts)
    assert {layout.mesh["rows"] for layout in found.layouts} == {2, 4, 8}
    assert not any(axis.is_unused for layout in found.layouts for axis in layout.candidate.axes)  # type: ignore[union-attr]
    assert max(math.prod(a.size for a in one.candidate.axes_of("vocab")) for one in found.layouts if one.candidate) == 2
    own_mesh = searched(MID, executor, limits=SearchLimits(mesh=(("a", 2), ("b", 4))))
    assert {tuple(layout.mesh.items()) for layout in own_mesh.layouts} == {(("a", 2), ("b", 4))}


def test_the_users_own_layout_is_one_of_them(executor: ThreadPoolExecutor) -> None:
    problem = MID.problem(limits=TWO_AXES)
    best = searched(MID, executor, limits=TWO_AXES).layouts[0]
    assert best.candidate is not None
    own = specs_of(problem, best.candidate)
    planted = replace(own, arguments=((("data",), ()), *own.arguments[1:]))
    found = LayoutSearch(problem, MID.scoring, SearchEffort(executor), own=planted).run()
    assert found.own is not None and found.own.specs == planted.arguments and found.own.candidate is None
    same = LayoutSearch(problem, MID.scoring, SearchEffort(executor), own=own).run()
    assert same.own is not None and same.own.candidate is not None
    assert same.own.estimate.cost == same.layouts[0].estimate.cost
    assert specs_of(problem, same.own.candidate).arguments == own.arguments


def test_the_front_is_what_no_other_layout_beats(executor: ThreadPoolExecutor) -> None:
    layouts = searched(MID, executor, limits=TWO_AXES).layouts
    points = [(one.estimate.cost, one.estimate.argument_bytes) for one in layouts]
    beaten = {n for n, a in enumerate(points) for b in points if b != a and b[0] <= a[0] and b[1] <= a[1]}
    assert {one.number for one in layouts if one.on_front}.isdisjoint(beaten)
    assert {points[n] for n in range(len(points)) if n not in beaten} == {
        points[one.number] for one in layouts if one.on_front
    }


def test_times_of_low_effort_rank_no_layouts(executor: ThreadPoolExecutor) -> None:
    layouts = list(searched(MID, executor, limits=TWO_AXES).layouts[:4])
    assert layout_choice.best(layouts, None).number == 0
    done, failed, too_large = CompiledState.COMPILED, CompiledState.FAILED, CompiledState.DOES_NOT_FIT
    layouts[0] = replace(layouts[0], compiled=CompiledFigures(too_large, CompileEffort.LOW))
    layouts[1] = replace(layouts[1], compiled=CompiledFigures(failed, CompileEffort.LOW))
    assert layout_choice.best(layouts, None).number == 2
    assert not layout_choice.is_known_too_large(layouts[1], None)  # a compile that failed says nothing of its memory
    layouts[2] = replace(layouts[2], compiled=CompiledFigures(done, CompileEffort.LOW, least=9.0))
    layouts[3] = replace(layouts[3], compiled=CompiledFigures(done, CompileEffort.LOW, least=1.0))
    assert layout_choice.best(layouts, None).number == 2
    both = [replace(one, compiled=replace(one.compiled, effort=CompileEffort.DEFAULT)) for one in layouts[2:]]
    assert layout_choice.best([*layouts[:2], *both], None).number == 3


def test_the_default_effort_decides_where_estimate_and_low_effort_disagree(executor: ThreadPoolExecutor) -> None:
    made = searched(MID, executor, limits=TWO_AXES).layouts[:3]

    def compiled(*times: tuple[CompileEffort, float | None]) -> list[ScoredLayout]:
        done = (CompiledFigures(CompiledState.COMPILED, effort, least=least) for effort, least in times)
        return [replace(layout, compiled=figures) for layout, figures in zip(made, done, strict=True)]

    low, default = CompileEffort.LOW, CompileEffort.DEFAULT
    assert layout_choice.contenders(made) == ()
    assert layout_choice.contenders(compiled((low, 1.0), (low, 0.95), (low, 2.0))) == ()
    assert layout_choice.contenders(compiled((low, 1.0), (low, 0.85), (low, 0.5))) == (0, 2)
    assert layout_choice.contenders(compiled((low, None), (low, None), (low, None))) == ()
    disputed = compiled((low, 1.0), (low, 0.85), (low, 0.5))
    disputed[1] = replace(disputed[1], is_own=True)
    assert layout_choice.contenders(disputed) == (0, 2, 1)
    settled = compiled((default, 0.9), (low, 0.85), (default, 0.7))
    assert layout_choice.contenders(settled) == () and layout_choice.best(settled, None).number == 2
    settled = compiled((default, 0.6), (low, 0.85), (default, 0.7))
    assert layout_choice.best(settled, None).number == 0
    asked_for = compiled((low, 1.0), (default, 1.2), (low, 1.1))  # one that the user compiled is not the best for that
    assert layout_choice.best(asked_for, None).number == 0


def test_the_next_to_compile_is_of_another_kind_or_smaller(executor: ThreadPoolExecutor) -> None:
    made = searched(MID, executor, limits=TWO_AXES).layouts[0]
    kinds, sizes = (LayoutKind.DATA, LayoutKind.DATA, LayoutKind.TENSOR), (100, 50, 200)
    layouts = [
        replace(made, number=number, kind=kind, estimate=replace(made.estimate, argument_bytes=size))
        for number, (kind, size) in enumerate(zip(kinds, sizes, strict=True))
    ]
    assert layout_choice.next_to_compile(layouts, [], [], None) == 0
    assert layout_choice.next_to_compile(layouts, [0], [0], None) == 2  # its kind fits
    assert layout_choice.next_to_compile(layouts, [0], [], None) == 1  # its kind did not fit, a smaller one may
    assert layout_choice.next_to_compile(layouts, [0, 1], [1], None) == 2
    assert layout_choice.next_to_compile(layouts, [0, 1, 2], [], None) is None
    assert (
        layout_choice.next_to_compile(layouts, [0, 1], [1], room=150) is None
    )  # its arguments alone exceed the device
