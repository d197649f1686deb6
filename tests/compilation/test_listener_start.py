"""The log begins with the extension, and does not import JAX for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
ip = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
def run(cell):
    result = ip.run_cell(cell, store_history=True)
    result.raise_error()
"""
SAID = """
from jaxstage_ext.compilation.records.compile_log import LOG
records = [record for record in LOG if record.entry.value != "eager operation"]
print("said", json.dumps([[one.name, one.cell, [run.stage.value for run in one.stages]] for one in records]))
"""
ALL = ["trace", "lower", "compile"]


def said(program: str) -> list[list[object]]:
    """What a process of its own says of its log."""
    done = subprocess.run(
        [sys.executable, "-c", SHELL + program + SAID], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    [line] = [line for line in done.stdout.splitlines() if line.startswith("said ")]
    found: list[list[object]] = json.loads(line.removeprefix("said "))
    return found


@pytest.mark.parametrize(
    "cell", ["import jax\\njax.jit(lambda x: x + 1)(1.0)", "from jax import jit\\njit(lambda x: x + 1)(1.0)"]
)
def test_a_cell_that_imports_jax_and_compiles_at_once_is_logged(cell: str) -> None:
    program = f"""
run("%load_ext jaxstage_ext")
assert not [name for name in sys.modules if name.partition(".")[0] in ("jax", "jaxlib")], "load_ext imports JAX"
run("{cell}")
import jax
assert not [finder for finder in sys.meta_path if "first_import" in type(finder).__module__], "the finder goes"
assert type(jax.monitoring.__spec__.loader).__name__ == "SourceFileLoader"
assert jax.monitoring.__loader__ is jax.monitoring.__spec__.loader
"""
    assert said(program) == [["<lambda>", 2, ALL]]


def test_jax_that_is_imported_before() -> None:
    program = """
run("import jax")
run("%load_ext jaxstage_ext")
run("jax.jit(lambda x: x + 1)(1.0)")
"""
    assert said(program) == [["<lambda>", 3, ALL]]


def test_unloaded_before_jax_is_imported() -> None:
    program = """
before = list(sys.meta_path)
run("%load_ext jaxstage_ext")
run("%unload_ext jaxstage_ext")
assert sys.meta_path == before
run("import jax; jax.jit(lambda x: x + 1)(1.0)")
"""
    assert said(program) == []


def test_what_the_first_compile_costs_us_is_not_counted_as_its_trace() -> None:
    """On clocks that are put forward by a thousand seconds while we load."""
    program = """
run("%load_ext jaxstage_ext")
import time
from jaxstage_ext.compilation.events import listening
load, passed = listening._loaded, 0.0
for name in ("time", "perf_counter"):
    setattr(time, name, lambda clock=getattr(time, name): clock() + passed)
def slow():
    global passed
    passed = 1000.0
    return load()
listening._loaded = slow
run("import jax; jax.jit(lambda x: x + 1)(1.0)")
from jaxstage_ext.compilation.records.compile_log import LOG
assert passed and list(LOG)[0].stages[0].seconds < 500, list(LOG)[0].stages
"""
    assert said(program) == [["<lambda>", 2, ALL]]


def test_a_jax_that_the_log_does_not_know_is_left_alone() -> None:
    program = """
run("%load_ext jaxstage_ext")
sys.modules["jaxstage_ext.compilation.events.stage_events"] = None
run("import jax; print(jax.jit(lambda x: x + 1)(1.0))")
from jaxstage_ext.compilation.events import listening
assert not listening.is_on()
run("print(jax.jit(lambda x: x + 2)(1.0))")
"""
    assert said(program) == []
