"""What the compile log costs: each miss, the fast path, memory, and `%load_ext`."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from jaxstage_ext.compilation.events import listening, stage_events, stage_results
from jaxstage_ext.compilation.persistent import watching
from jaxstage_ext.compilation.records.compile_log import LOG, CompileLog
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, PersistentFacts, StageName, StageRun
from tests.benchmarks.table import pairs, row

pytestmark = pytest.mark.benchmark


@pytest.fixture
def log() -> Iterator[CompileLog]:
    listening.start()
    jax.jit(lambda x: x + 1)(1.0)
    LOG.clear()
    yield LOG
    LOG.clear()
    listening.stop()


@pytest.fixture
def spent(log: CompileLog, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[float]]:
    """Seconds of this thread's processor that the log takes of each event, by the event's name."""
    times: dict[str, list[float]] = defaultdict(list)

    def timed(name: str) -> None:
        work = getattr(stage_events, name)

        def run(event: str, *given: Any) -> None:
            started = time.thread_time()
            work(event, *given)
            times[f"{name} {event}"].append(time.thread_time() - started)

        monkeypatch.setattr(stage_events, name, run)

    timed("begin")
    timed("end")
    observed = watching._observed

    def observe() -> Any:
        started = time.thread_time()
        made = observed()
        times["persistent cache"].append(time.thread_time() - started)
        return made

    monkeypatch.setattr(watching, "_observed", observe)
    return times


def a_miss(times: dict[str, list[float]]) -> float:
    """The seconds of all events of one miss together, a tenth of which take less: other work slows the rest."""
    return sum(statistics.quantiles(of_event, n=10)[0] for of_event in times.values())


def test_of_a_miss(spent: dict[str, list[float]]) -> None:
    step = jax.jit(lambda x: x + 1)
    for size in range(200):
        step.lower(jax.ShapeDtypeStruct((size,), "float32"))
    warm = a_miss(spent)
    row("the log, of a trace and a lowering", f"{warm * 1e6:.0f} us", "", "< 200 us", warm < 200e-6)
    spent.clear()
    misses: list[float] = []
    for size in range(100):
        x = np.ones((size + 1, 2), np.float32)
        started = time.perf_counter()
        step(x)
        misses.append(time.perf_counter() - started)
    ours, miss = a_miss(spent), statistics.median(misses)
    promised = "< 4 %; 200 us is the goal, which a miss that compiles does not reach"
    row("the log, of the smallest miss", f"{ours * 1e6:.0f} us", f"{miss * 1e3:.0f} ms", promised, ours < 0.04 * miss)


def test_of_a_call_with_2000_leaves(spent: dict[str, list[float]]) -> None:
    step = jax.jit(lambda tree: tree["0"] + 1)
    for size in range(1, 6):
        step({str(i): np.ones(size, np.float32) for i in range(2000)})
    ours = a_miss(spent)
    row("the log, of a call with 2,000 leaves", f"{ours * 1e3:.2f} ms", "", "< 5 ms", ours < 5e-3)


def test_of_the_fast_path(log: CompileLog) -> None:
    step = jax.jit(lambda x: x + 1)
    x = jax.numpy.ones(3)
    step(x)

    def calls() -> None:
        for _ in range(3000):
            step(x)

    def without() -> None:
        calls()

    def with_log() -> None:
        calls()

    ratios = []
    for _ in range(15):
        listening.start()
        heard = min(pairs(with_log, without, 1).ours for _ in range(2))
        listening.stop()
        ratios.append(heard / min(pairs(with_log, without, 1).ours for _ in range(2)))
    ratio = statistics.median(ratios)
    row("3,000 calls on the fast path, with the log over without", f"{ratio:.3f}", "", "< 1.05", ratio < 1.05)


def test_of_memory(log: CompileLog) -> None:
    count = 10_000
    tree = {"w": 1.0, "b": 2.0, "layers": [1.0] * 6}
    step = jax.jit(lambda tree, x: x)
    tracemalloc.start()
    try:
        for size in range(count):
            step.eval_shape(tree, jax.ShapeDtypeStruct((size,), "float32"))
        for record in log:  # what a lowering and a compile add
            record.stages += [StageRun(stage, 1.0 * record.number, 0.1, 0.1) for stage in list(StageName)[1:]]
            record.persistent = PersistentFacts(CacheOutcome.HIT, f"jit_step-{record.number:064d}", read_seconds=0.1)
        jax.clear_caches()
        kept, estimate = _freed_by_clearing(log)
    finally:
        tracemalloc.stop()
    row(
        f"{count:,} records",
        f"{kept / 1e6:.1f} MB",
        f"estimate {estimate / 1e6:.1f} MB",
        "< 60 MB, estimate within a factor 2",
        kept < 60e6 and 0.5 < estimate / kept < 2,
    )


def _freed_by_clearing(log: CompileLog) -> tuple[int, int]:
    """Bytes that the records keep alive, and what they say of themselves."""
    estimate, count = sum(record.bytes for record in log), len(log)
    assert count + log.dropped >= 10_000
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    log.clear()
    stage_results.drop()
    stage_events.forget_running()
    gc.collect()
    return before - tracemalloc.get_traced_memory()[0], estimate


def test_of_memory_with_large_trees(log: CompileLog) -> None:
    tree = {str(i): 1.0 for i in range(2000)}
    step = jax.jit(lambda tree, x: x)
    for size in range(150):
        step.eval_shape(tree, jax.ShapeDtypeStruct((size,), "float32"))
    kept = sum(record.bytes for record in log)
    row("150 records of 2,000 leaves", f"{kept / 1e6:.0f} MB", f"{len(log)} kept", "< 60 MB", 0 < kept < 60e6)


LOAD = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
ip = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
print("loading", file=sys.stderr)
ip.run_line_magic("load_ext", "jaxstage_ext")
print("loaded", file=sys.stderr)
"""


def test_of_load_ext() -> None:
    own = min(_import_milliseconds() for _ in range(7))
    row("the log's modules in %load_ext", f"{own:.1f} ms", "", "< 5 ms", 0 < own < 5)


def _import_milliseconds() -> float:
    """The time of importing the modules of the log alone, which `%load_ext` imports beside the others."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", LOAD], capture_output=True, text=True, check=True)
    loading = done.stderr.partition("loading\n")[2].partition("loaded\n")[0]
    rows = [line.split("|") for line in loading.splitlines() if line.startswith("import time:")]
    ours = [line for line in rows if any(part in line[-1] for part in ("jaxstage_ext.compil", "first_import"))]
    return sum(int(line[0].removeprefix("import time:")) for line in ours) / 1000
