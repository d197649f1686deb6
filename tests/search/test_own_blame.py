"""What is wrong with specs of one's own, on a weight, its moment and data whose costs are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from made_searches import axis, estimate

from jaxstage_ext.search.decisions import decision_not_in
from jaxstage_ext.search.layout_candidate import LayoutCandidate
from jaxstage_ext.search.layout_result import Decision, DecisionKind, LayoutEstimate
from jaxstage_ext.search.layout_specs import LayoutSpecs, by_place, on_mesh, specs_of
from jaxstage_ext.search.own_blame import Blame, blame
from jaxstage_ext.search.search_problem import (
    ArgumentRole,
    DimensionRole,
    SearchedArgument,
    SearchedDimension,
    SearchProblem,
)

DIMENSIONS = (
    SearchedDimension("batch", DimensionRole.BATCH, frozenset({"wide"})),
    SearchedDimension("wide", DimensionRole.MODEL, frozenset({"batch"})),
)
PARAMETER, DATA = ArgumentRole.PARAMETER, ArgumentRole.DATA
ARGUMENTS = (
    SearchedArgument("params['w']", (64, 64), 32, PARAMETER, ("wide", "")),
    SearchedArgument("moments['w']", (64, 64), 32, PARAMETER, ("wide", "")),
    SearchedArgument("x", (64, 64), 32, DATA, ("batch", "wide")),
)
PROBLEM = SearchProblem(ARGUMENTS, DIMENSIONS, 8)
ROWS, COLUMNS, WHOLE = (("data",), ()), ((), ("data",)), ((), ())
MESH = (("data", 8),)
OWN = LayoutSpecs(MESH, (ROWS, ROWS, COLUMNS), ())
GOOD = LayoutSpecs(MESH, (WHOLE, WHOLE, ROWS), ())


def blamed(own: LayoutSpecs, seconds: Callable[[LayoutSpecs], float]) -> tuple[tuple[Blame, ...], int]:
    """What is blamed, and how many layouts were asked for."""
    asked: list[LayoutSpecs] = []

    def estimates(layouts: Sequence[LayoutSpecs]) -> list[LayoutEstimate | None]:
        asked.extend(layouts)
        return [estimate(seconds(one), 0.0, 1000) for one in layouts]

    return blame(PROBLEM, own, [GOOD], estimates), len(asked)


def test_groups_that_are_bad_together_are_blamed_together() -> None:
    """Nothing is faster until the weight, its moment and the data are all split otherwise."""
    [one], _ = blamed(OWN, lambda layout: 0.005 if layout == GOOD else 0.010)
    assert {(group.names, group.spec, group.better) for group in one.groups} == {
        (("params['w']", "moments['w']"), ROWS, WHOLE),
        (("x",), COLUMNS, ROWS),
    }
    assert one.seconds is not None and round(one.seconds, 9) == 0.005


def test_a_parameter_and_its_moment_are_blamed_together() -> None:
    def seconds(layout: LayoutSpecs) -> float:
        return 0.005 if layout.arguments[:2] == (WHOLE, WHOLE) else 0.010

    [one], asked = blamed(OWN, seconds)
    assert [group.leaves for group in one.groups] == [(0, 1)]
    assert asked < 12, "no pairs: this explains all"


def test_a_planted_spec_of_a_moment_is_blamed_alone() -> None:
    planted = LayoutSpecs(MESH, (WHOLE, COLUMNS, ROWS), ())
    [one], _ = blamed(planted, lambda layout: 0.010 if layout.arguments[1] == COLUMNS else 0.005)
    [group] = one.groups
    assert (group.names, group.spec) == (("moments['w']",), COLUMNS) and group.better != COLUMNS


def test_nothing_is_blamed_where_nothing_is_better() -> None:
    assert blamed(OWN, lambda layout: 0.010)[0] == ()


def test_what_the_best_does_otherwise() -> None:
    own = specs_of(PROBLEM, LayoutCandidate((axis("data", 8, "batch"),)))
    split = Decision(DecisionKind.SPLIT, "fsdp", 8, ("batch",), 0.01, 0)
    store = Decision(DecisionKind.STORE, "fsdp", 8, (), 0.002, 0)
    assert decision_not_in(PROBLEM, (split, store), own) == store
    assert decision_not_in(PROBLEM, (split,), own) is None


def test_meshes_that_differ_in_names_alone_are_one() -> None:
    other = on_mesh(OWN, (("model", 8),))
    assert other is not None and other != OWN and by_place(other) == by_place(OWN)
    assert on_mesh(OWN, (("a", 4), ("b", 2))) is None
