"""A decision's figures out of two compiles, by hand."""

from __future__ import annotations

from dataclasses import replace

from made_searches import axis, estimate, layout

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search.decisions import as_compiled, most_weighty
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import (
    CollectiveShare,
    CompiledFigures,
    CompiledState,
    CompileEffort,
    Decision,
    DecisionKind,
)

GATHER = CollectiveKind.ALL_GATHER
ESTIMATED = Decision(DecisionKind.STORE, "data", 8, (), 0.002, 500, CollectiveKind.REDUCE_SCATTER)


def compiled(work: float, links: float, effort: CompileEffort = CompileEffort.DEFAULT) -> CompiledFigures:
    share = CollectiveShare(GATHER, ("data",), "", 1, 1, links, is_gradient=True)
    return CompiledFigures(CompiledState.COMPILED, effort, work + links, work, 0.0, links, parts=(share,))


def test_the_compiles_decide_what_a_decision_saves() -> None:
    """By the estimate it saves 2 ms; by the compiles it costs 3 ms of gathering."""
    found = as_compiled(ESTIMATED, compiled(0.010, 0.004), compiled(0.010, 0.001))
    assert found.seconds is not None and round(found.seconds, 9) == -0.003
    assert (found.of, found.is_gradient, found.effort) == (GATHER, True, CompileEffort.DEFAULT)
    assert found.bytes == ESTIMATED.bytes, "those of arguments are exact"
    work = as_compiled(ESTIMATED, compiled(0.010, 0.004), compiled(0.015, 0.003))
    assert work.of is None and work.seconds is not None and round(work.seconds, 9) == 0.004


def test_times_of_two_efforts_are_never_subtracted() -> None:
    assert as_compiled(ESTIMATED, compiled(1, 0), compiled(2, 0, CompileEffort.LOW)) == ESTIMATED


def test_what_does_not_compile_leaves_the_estimate() -> None:
    failed = CompiledFigures(CompiledState.FAILED, CompileEffort.DEFAULT)
    assert as_compiled(ESTIMATED, compiled(1, 0), failed) == ESTIMATED
    refused = as_compiled(ESTIMATED, compiled(1, 0), replace(failed, state=CompiledState.DOES_NOT_FIT))
    assert refused == replace(ESTIMATED, without=CompiledState.DOES_NOT_FIT)


def test_a_decision_without_which_nothing_fits_comes_first_and_one_that_changes_nothing_goes() -> None:
    whole = replace(
        layout(LayoutKind.FSDP, (axis("data", 8),), 0.6, 0.0, 17.0),
        estimate=estimate(0.010, 0.004, 1_000_000),
        compiled=compiled(0.010, 0.004),
    )
    much = replace(ESTIMATED, axis="model", bytes=900_000)
    needed = replace(ESTIMATED, bytes=0, seconds=0.0, without=CompiledState.DOES_NOT_FIT)
    nothing = as_compiled(replace(ESTIMATED, bytes=0), compiled(0.010, 0.004), compiled(0.010, 0.00401))
    assert most_weighty([much, nothing, needed], whole) == (needed, much)
