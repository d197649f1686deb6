"""How fast the layouts of a train step are searched, and three of them compiled. `make benchmarks` prints the table."""

from __future__ import annotations

import time

import jax
import pytest

import jaxstage_ext
from jaxstage_ext.api.find_shardings import ShardingSearch
from jaxstage_ext.store import cache
from tests.benchmarks.table import row
from tests.helpers import transformer

pytestmark = pytest.mark.benchmark


def searched(target: str, confirm: int, **how: object) -> tuple[ShardingSearch, float]:
    arguments = jax.eval_shape(transformer.inputs)
    started = time.perf_counter()
    search = jaxstage_ext.find_shardings(
        transformer.step,
        *arguments,
        target=target,
        confirm=confirm,
        most_axes=2,
        **how,  # type: ignore[arg-type]
    )
    return search, time.perf_counter() - started


def test_layouts_a_second_and_three_compiled() -> None:
    """A train step of two layers on eight chips: 15 layouts a second, a minute to three compiled ones."""
    few, _ = searched("v5e:2x4", confirm=0)
    rate = few.tried / few.found.seconds
    row("layouts scored a second, 2 layers, v5e:2x4", f"{rate:.1f} /s", "", "15 /s", rate >= 15)
    cache.clear()
    search, seconds = searched("v5e:2x4", confirm=0)
    started = time.perf_counter()
    assert len(search._search.confirm_best(3)) == 3
    seconds += time.perf_counter() - started
    row("three compiled layouts, v5e:2x4", f"{seconds:.1f} s", "", "60 s", seconds <= 60)
    started = time.perf_counter()
    decisions = search._search.compile_decisions(search.best.number)
    seconds = time.perf_counter() - started
    row(f"its {len(decisions)} decisions compiled", f"{seconds:.1f} s", "", "60 s", seconds <= 60)


def test_many_chips_take_no_longer_for_each_layout() -> None:
    small, _ = searched("cpu:8", confirm=0, budget=20)
    large, _ = searched("cpu:512", confirm=0, budget=20)
    ratio = (large.found.seconds / large.tried) / (small.found.seconds / small.tried)
    row("a layout on 512 chips over one on 8", f"{ratio:.2f} ×", "", "1.5 ×", ratio <= 1.5)
