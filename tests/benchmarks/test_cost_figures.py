"""What the tables of cost and memory cost beside the document they explain. `make benchmarks` prints the table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.analysis.cost import module_cost
from jaxstage_ext.analysis.memory import buffers, module_memory
from jaxstage_ext.analysis.memory.fit import DeviceMemory
from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.ir.hlo import buffer_assignment, hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import schedule as hlo_schedule
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.program import tabs
from jaxstage_ext.program.questions.collectives import collectives
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.questions.dtypes import dtypes
from jaxstage_ext.program.questions.propagated_module import propagation_dump
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.program.source.instruction_places import instruction_places, places_in
from tests.benchmarks.model import step
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark
LAYERS = 36
"""As many as make 217,000 instructions."""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    value = work()
    return time.perf_counter() - started, value


def compiled(folder: Path) -> tuple[Any, bytes]:
    """A large module, as XLA left it, and its buffer assignment."""
    function, arguments = step(LAYERS)
    options = {"xla_dump_to": str(folder), "xla_dump_hlo_as_proto": True, "xla_backend_optimization_level": 0}
    made = jax.jit(function).trace(*arguments).lower().compile(compiler_options=options)
    [module] = xla_executables.hlo_modules(made)
    [dumped] = folder.glob("*after_optimizations.hlo.pb")
    return module, dumped.read_bytes()


def test_cost_and_memory_of_a_large_module(tmp_path: Path) -> None:
    module, assigned = compiled(tmp_path)
    text, proto = xla_executables.hlo_text(module, True), xla_executables.hlo_proto(module)
    documents, costs, memories = [], [], []
    for _ in range(3):
        took, document = timed(lambda: hlo_document.read(text, hlo.parse(proto), FrameTable()))
        documents.append(took)
        took, (ops, places) = timed(partial(counted, proto, document))
        costs.append(took)
        memories.append(seconds(partial(remembered, assigned, ops, places)))
    base, first, second = map(statistics.median, (documents, costs, memories))
    row(
        f"cost and memory tables, {len(ops):,} instructions",
        f"{first:.2f} + {second:.2f} s",
        f"{base:.2f} s document",
        "<= document + 2 s",
        first + second <= base + 2,
    )
    print(f"\n{'':<58} ratio {(first + second) / base:.2f}")


def counted(proto: bytes, document: Any) -> tuple[hlo.Module, module_cost.Places]:
    ops = hlo.parse(proto)
    places = places_in(document, ops)
    work = module_cost.read(ops, places)
    assert len(work.table) and len(work.by("line"))
    return ops, places


def remembered(assigned: bytes, known: hlo.Module, places: module_cost.Places) -> None:
    assignment = buffer_assignment.read(assigned)
    assert assignment is not None
    ops = hlo.parse(assignment.module, known)
    schedule = hlo_schedule.read(ops)
    assert schedule is not None
    laid = buffers.read(ops, assignment, schedule, list(places.scope))
    found = module_memory.read(
        laid, places, "cpu", DeviceMemory("this machine", None, "not known"), {}, None, None, (), None
    )
    assert str(found)


def test_what_the_views_add_to_a_compile_when_nobody_opens_them() -> None:
    """Naming the tabs: nothing else is computed."""
    function, arguments = step(4)
    whole, inspection = timed(lambda: inspect(function, *arguments))
    for kind in inspection.documents:
        inspection.documents[kind]
    added = statistics.median(seconds(lambda: tabs.tabs(inspection.program)) for _ in range(20))
    row(
        "4-layer step: tabs that nobody opens add", f"{added * 1e3:.2f} ms", f"{whole:.2f} s", "<= 2 %",
        added <= 0.02 * whole,
    )  # fmt: skip
    heavy = (cost, collectives, shardings, dtypes, instruction_places, propagation_dump)
    looked = [fact.__name__ for fact in heavy if fact.is_known(inspection.program)]
    assert not looked, f"computed though nobody looked: {looked}"
