"""What `%compiles` costs on a full log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.api.compiles import CompileHistory
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.records.compile_log import LOG, MOST_RECORDS, CompileLog
from jaxstage_ext.compilation.records.named_globals import named_globals
from jaxstage_ext.compilation.records.stale_names import stale_names
from jaxstage_ext.notebook.compiles_request import newest_cell
from jaxstage_ext.panel.showing.shown_history import shown_history
from jaxstage_ext.views.compiled import compile_forms
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark
SCALE, WEIGHTS, CONFIG = 2, jnp.ones(3), {"rate": 0.1}


def helper(x: Any) -> Any:
    return x * SCALE + WEIGHTS[0]


@jax.jit
def step(x: Any) -> Any:
    return helper(x) * CONFIG["rate"]


@pytest.fixture(scope="module")
def full() -> CompileLog:
    """A log of real records, over and over."""
    LOG.clear()
    listening.start()
    for size in range(1, 6):
        step(jnp.ones(size))
        step(jnp.ones(size, jnp.int32))
        jax.jit(lambda x: x + 1)(jnp.ones(size))
    listening.stop()
    log, real = CompileLog(), list(LOG)
    for number in range(1, MOST_RECORDS + 1):
        log.add(replace(real[number % len(real)], number=number, cell=number // 20, bytes=0))
    return log


def logged(log: CompileLog) -> CompileHistory:
    return shown_history(CompileHistory, log)


def best(work: Callable[[], Any]) -> float:
    return 1e3 * min(seconds(work) for _ in range(5))


def of_newest_cell(log: CompileLog) -> CompileHistory:
    whole = logged(log)
    stale_names(whole, 0)
    return newest_cell(whole)


def test_compiles_on_a_full_log(full: CompileLog) -> None:
    for title, make in (("of the newest cell", of_newest_cell), ("all", logged)):

        def shown(make: Callable[[CompileLog], CompileHistory] = make) -> str:
            fresh = replace(make(full), _verdicts={})
            return compile_forms.text(fresh)

        taken = best(shown)
        row(f"%compiles {title}, {MOST_RECORDS:,} records", f"{taken:.1f} ms", "", "< 100 ms", taken < 100)


def test_what_a_function_names_is_kept_at_each_trace() -> None:
    taken = 1e3 * best(lambda: named_globals(step))
    row("named globals of a small function", f"{taken:.0f} µs", "", "< 100 µs", taken < 100)
