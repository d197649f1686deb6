"""What inspecting costs beside what JAX does anyway. `make benchmarks` prints the table."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.ir.hlo import hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.store import cache
from tests.benchmarks.model import step
from tests.benchmarks.table import pairs, row, seconds

pytestmark = pytest.mark.benchmark


@pytest.fixture
def no_cache() -> Iterator[None]:
    """Nothing of ours is kept from an earlier look at the same program."""
    cache.enable(False)
    yield
    cache.enable(True)


def bare(fn, *args):
    return jax.jit(fn).trace(*args).lower().compile()


def fresh_step(layers: int):
    function, arguments = step(layers)
    return function, *arguments


@pytest.mark.usefixtures("no_cache")
def test_inspect_on_a_four_layer_step() -> None:
    inspect(*fresh_step(1))
    ours, theirs, ratio = pairs(lambda: inspect(*fresh_step(4)), lambda: bare(*fresh_step(4)), rounds=11, cold=True)
    row(
        "inspect, 4-layer gradient step",
        f"{ratio:.3f} of bare",
        f"{ours:.2f} s, {theirs:.2f} s bare",
        "<= 1.03",
        ratio <= 1.03,
    )


@pytest.mark.usefixtures("no_cache")
def test_inspect_on_three_lines() -> None:
    def fresh():
        def three(w, x):
            hidden = jnp.tanh(x @ w)
            scaled = jax.nn.softmax(hidden)
            return scaled.sum()

        return three

    w, x = jnp.ones((128, 512)), jnp.ones((8, 128))
    first = seconds(lambda: inspect(fresh(), w, x)) - seconds(lambda: bare(fresh(), w, x))
    ours, theirs, _ = pairs(lambda: inspect(fresh(), w, x), lambda: bare(fresh(), w, x), rounds=31, cold=True)
    added = (ours - theirs) * 1e3
    row("inspect, three lines: added", f"{added:.1f} ms", f"{theirs * 1e3:.0f} ms bare", "<= 10 ms", added <= 10)
    print(f"\n{'':<58} first call in the process: {first * 1e3:.1f} ms added")


@pytest.mark.usefixtures("no_cache")
def test_a_captured_array_of_51_megabytes() -> None:
    """Against the compile, and what XLA itself takes to tell what it made: its module, and its memory.

    That alone is half as long as the compile, for it copies the array three times and more, and XLA has no way to
    leave literals out of a module. What we add to it is promised; the second row is for the eye.
    """
    dice, x = np.random.default_rng(0), jnp.ones((8, 3570))

    def fresh():
        w = dice.standard_normal((3570, 3570)).astype(np.float32)
        return lambda x: jnp.tanh(x @ w).sum()

    def shown() -> str:
        inspection = inspect(fresh(), x)
        for kind in inspection.documents:
            inspection.documents[kind]
        return str(inspection)

    def told() -> None:
        compiled = bare(fresh(), x)
        [module] = xla_executables.hlo_modules(compiled)
        xla_executables.hlo_proto(module)
        compiled.memory_analysis()

    shown()
    ours, theirs, ratio = pairs(shown, told, rounds=7, cold=True, clock=time.process_time)
    alone = pairs(lambda: inspect(fresh(), x), lambda: bare(fresh(), x), rounds=7, cold=True, clock=time.process_time)
    row(
        "a captured array of 51 MB: inspect",
        f"{alone.ratio:.2f} of bare",
        f"{alone.theirs:.2f} s bare",
        "<= 1.1",
        alone.ratio <= 1.1,
    )
    row("with documents and text", f"{ratio:.2f} of bare and XLA's telling", f"{theirs:.2f} s", "<= 1.1", ratio <= 1.1)
    row("the same", f"{ours / alone.theirs:.2f} of bare", f"{ours:.2f} s", "(none)", True)


def test_everything_the_panel_shows_of_a_four_layer_step() -> None:
    inspection = inspect(*fresh_step(4))
    shown = seconds(inspection.summary)
    total = sum(inspection.seconds.values())
    row("all documents and the summary, 4-layer step", f"{shown:.3f} s", f"{total:.2f} s stages", "(none)", True)


def test_hlo_document_of_a_32_layer_step() -> None:
    fn, args = step(32)
    compiled = jax.jit(fn).trace(*args).lower().compile(compiler_options={"xla_backend_optimization_level": 0})
    [module] = xla_executables.hlo_modules(compiled)

    def document():
        text = xla_executables.hlo_text(module, True)
        return hlo_document.read(text, hlo.parse(xla_executables.hlo_proto(module)), FrameTable())

    def texts():
        compiled.as_text()
        module.as_serialized_hlo_module_proto()

    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = peak_megabytes()
    read = document()
    added = peak_megabytes() - before
    coverage = read.coverage
    print(f"\n{len(read):,} lines, {coverage}")
    ours, theirs, ratio = pairs(document, texts, rounds=7)
    row(
        "HLO document with links, 32-layer step at -O0",
        f"{ratio:.2f} of text + proto",
        f"{ours:.2f} s, {theirs:.2f} s",
        "<= 2",
        ratio <= 2,
    )
    row("the same, memory above what was there", f"{added:.0f} MB", f"{before:.0f} MB before", "< 600 MB", added < 600)


def peak_megabytes() -> float:
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1e3


def test_links_of_a_four_layer_step() -> None:
    coverage = inspect(*fresh_step(4)).documents["hlo"].coverage
    direct, linked = coverage.direct / coverage.total, (coverage.direct + coverage.inferred) / coverage.total
    row("HLO linked directly, 4-layer step", f"{direct:.1%}", f"of {coverage.total}", ">= 88 %", direct >= 0.88)
    row("with inferred links", f"{linked:.1%}", "", ">= 99 %", linked >= 0.99)


LOAD = """
import jax, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
started = time.process_time()
shell.run_line_magic("load_ext", "jaxstage_ext")
print(time.process_time() - started)
"""


def test_loading_the_extension() -> None:
    """Of the processor, which other work on the machine does not take."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    times = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", LOAD], env=environment, capture_output=True, text=True, check=True)
        times.append(float(done.stdout.split()[-1]) * 1e3)
    middle = sorted(times)[2]
    row("%load_ext beyond import jax", f"{middle:.0f} ms", "5 fresh processes", "< 30 ms", middle < 30)
