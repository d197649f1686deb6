"""What a second look at a program costs, and what the worker adds to a compile. `make benchmarks` prints the table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.core import jax_private
from jaxstage_ext.core.inputs import constants
from jaxstage_ext.core.targets import environments
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool
from tests.benchmarks.model import step
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark
LAYERS = 4
SHOWN = ("jaxpr", "stablehlo", "hlo", "python")


@pytest.fixture(autouse=True)
def a_warm_worker_and_an_empty_cache() -> Iterator[None]:
    pool.ask("cpu", {"method": "ping"}, environment=environments.taken("cpu"))
    yield
    cache.use_folder(None)
    pool.close_all()


def look(target: str) -> tuple[float, float, float]:
    """Seconds of compile, documents and summary; of those without JAX's printing; and of all, with trace and lower.

    Tracing, lowering and printing the jaxpr are JAX's, asked for by a second look as by the first: the trace made a new
    jaxpr. Of a step of four layers (1,000 equations) JAX prints for 22 ms of a processor. A checksum of all that it
    prints, by which the text could be kept, would have to ask for the same words, and takes as long as half of that.
    """
    function, arguments = step(LAYERS)
    started = time.perf_counter()
    inspection = inspect(function, *arguments, target=target)
    for kind in SHOWN:
        inspection.documents[kind]
    inspection.summary()
    whole = time.perf_counter() - started
    traced = inspection.program.jax_traced.jaxpr
    printing = min(seconds(lambda: jax_private.print_jaxpr(traced)) for _ in range(3))
    again = whole - inspection.seconds["trace"] - inspection.seconds["lower"]
    return again, again - printing, whole


@pytest.mark.parametrize("target", ["local", "cpu:4", "v5e:2x2"])
def test_a_second_look(target: str, tmp_path: Path) -> None:
    needs(target)
    inspect(lambda x: x + 1, 1.0, target=target)
    cache.use_folder(tmp_path if target != "local" else None)
    looks = []
    for number in range(5):  # from one line, which is part of the module
        if number == 4:
            cache.clear()
        looks.append(look(target))
    (first, unprinted, whole), *later, (last, _, whole_last) = looks
    again, ours, all_again = (statistics.median(times) for times in zip(*later, strict=True))
    what = f"{target}: second look, compile and documents"
    _row(f"{what}, but printing", ours, unprinted, unprinted / ours >= 20, "ratio >= 20")
    _row(what, again, first, True, "(none)")
    _row(f"{target}: the same with trace and lower", all_again, whole, True, "(none)")
    if target != "local":
        _row(f"{target}: from the folder, compile and documents", last, first, True, "(none)")
        _row(f"{target}: the same with trace and lower", whole_last, whole, True, "(none)")


def _row(what: str, now: float, then: float, reached: bool, goal: str) -> None:
    row(what, f"{now * 1e3:.0f} ms, 1/{then / now:.0f}", f"{then:.2f} s at first", goal, reached)


@pytest.mark.parametrize("layers", [4, 16])
def test_what_the_worker_adds(layers: int) -> None:
    """The whole compile stage against the seconds that XLA itself took in the worker.

    Of a step of four layers XLA compiles for 2.4 s of a processor, on as many cores as there are; then it tells on one
    what it made, for 50 ms: the text 9, the module 17, the costs 4, the memory statistics 20. The kernel adds 21 ms for
    the request and the answer. That is 3 % of the processor's time, and more by the clock where there are many cores.
    """
    from jaxstage_ext.core.targets import cross_compile, worker_requests
    from jaxstage_ext.core.targets.target import parse

    target, added, took = parse("cpu:1"), [], []
    cache.enable(False)
    for _ in range(3 if layers < 10 else 2):
        function, arguments = step(layers)
        traced = jax.jit(function).trace(*arguments)
        lowered = cross_compile.lower(traced, target)
        started = time.perf_counter()
        made = cross_compile.compile(
            lowered, function, target, worker_requests.USUAL, constants.spelled_out(traced), {}
        )
        took.append(made.seconds)
        added.append(time.perf_counter() - started - made.seconds)
    cache.enable(True)
    share = statistics.median(a / t for a, t in zip(added, took, strict=True))
    row(
        f"worker, {layers}-layer step: added",
        f"{min(added) * 1e3:.0f} ms, {share:.1%}",
        f"{min(took):.2f} s XLA",
        "<= 5 %",
        share <= 0.05,
    )
