"""Whether a compile exchanges what was estimated, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search.exchange.exchange_match import with_match
from jaxstage_ext.search.layout_result import (
    CollectiveShare,
    CompiledFigures,
    CompiledState,
    CompileEffort,
    ExchangeMatch,
    LayoutEstimate,
)

GATHER, REDUCE, SCATTER = CollectiveKind.ALL_GATHER, CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER
MB = 1_000_000


def share(kind: CollectiveKind, size: int, line: str = "a.py:1", argument: str = "") -> CollectiveShare:
    return CollectiveShare(kind, ("data",), line, 1, size * MB, size * 1e-5, argument=argument)


def matched(
    compiled: tuple[CollectiveShare, ...] | None, estimated: tuple[CollectiveShare, ...], work: float = 1e-3,
    unlisted: int = 0,
) -> CompiledFigures:  # fmt: skip
    links = sum(part.seconds or 0.0 for part in estimated)
    sizes = sum(part.bytes for part in estimated) + unlisted * MB
    estimate = LayoutEstimate(work, 0.0, links, 1, sizes, work + links, parts=estimated)
    figures = CompiledFigures(CompiledState.COMPILED, CompileEffort.DEFAULT, least=work + links, parts=compiled)
    return with_match(figures, estimate)


def test_what_xla_gathers_instead_is_named_with_both_figures() -> None:
    weights = share(GATHER, 64, "a.py:31", "params['w']")
    found = matched((weights, share(REDUCE, 2)), (share(REDUCE, 10, "a.py:29"),))
    assert found.match is ExchangeMatch.OTHERWISE and found.difference is not None
    difference = found.difference
    assert difference.more == weights and difference.more_estimated == 0
    assert difference.fewer is None, "8 of 66 MB are few"


def test_one_kind_in_place_of_another() -> None:
    scattered = (share(SCATTER, 30, "a.py:2"), share(SCATTER, 34, "a.py:3"))
    difference = matched((share(REDUCE, 64, "a.py:3"),), scattered).difference
    assert difference is not None and difference.more is not None and difference.fewer is not None
    assert (difference.more.kind, difference.more_estimated) == (REDUCE, 0)
    assert (difference.fewer.bytes, difference.fewer.line, difference.fewer_compiled) == (64 * MB, "a.py:3", 0)


@pytest.mark.parametrize(
    ("compiled", "estimated", "how"),
    [
        ((share(REDUCE, 60),), (share(REDUCE, 64),), {}),
        ((share(REDUCE, 64),), (share(REDUCE, 30),), {"unlisted": 34}),
        ((share(GATHER, 64),), (share(REDUCE, 64),), {"work": 1.0}),
        ((), (), {}),
    ],
    ids=["nearly as many bytes", "what the estimate does not list", "collectives take no time", "no collectives"],
)
def test_small_differences_are_none(
    compiled: tuple[CollectiveShare, ...], estimated: tuple[CollectiveShare, ...], how: dict[str, float]
) -> None:
    found = matched(compiled, estimated, **how)  # type: ignore[arg-type]
    assert (found.match, found.difference) == (ExchangeMatch.AS_ESTIMATED, None)


def test_low_effort_makes_no_reduce_scatter() -> None:
    estimate = LayoutEstimate(1e-3, 0.0, 1e-3, 1, 64 * MB, 2e-3, parts=(share(SCATTER, 64),))
    for effort, match in (
        (CompileEffort.LOW, ExchangeMatch.AS_ESTIMATED),
        (CompileEffort.DEFAULT, ExchangeMatch.OTHERWISE),
    ):
        figures = CompiledFigures(CompiledState.COMPILED, effort, least=2e-3, parts=(share(REDUCE, 64),))
        assert with_match(figures, estimate).match is match


def test_loops_of_unknown_length_leave_it_unknown() -> None:
    assert matched(None, (share(REDUCE, 64),)).match is None


def test_where_times_are_unknown_bytes_decide() -> None:
    estimate = LayoutEstimate(None, None, None, 1, 64 * MB, 1.0, parts=(replace(share(REDUCE, 64), seconds=None),))
    figures = CompiledFigures(CompiledState.COMPILED, CompileEffort.LOW, parts=(share(GATHER, 64),))
    assert with_match(figures, estimate).match is ExchangeMatch.OTHERWISE
