"""`jaxstage_ext.measure_ceilings`: how fast this machine's CPU computes and moves data through XLA."""

from __future__ import annotations

import contextlib
import datetime
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax

from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.profiling.timing import ceiling_runs
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.worker import memory_limit

PRODUCTS = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "s8": "int8"}
_STREAM = 4
"""How many times larger than all caches an array must be: STREAM's rule, McCalpin, "STREAM", run rules."""
_MEMORY_SHARE = 16
"""The largest array takes at most this part of the machine's memory."""


def measure_ceilings(progress: Progress = silent) -> MachineCeilings:
    """Measure the peaks of this machine's CPU, in a few seconds: products by dtype, memory, caches, functions.

    They are what programs reach through JAX and XLA here, with all cores that this process may use, the best of
    several runs; no vendor's figures. Where other programs keep the machine busy, higher ceilings that were measured
    earlier stay. Rooflines of CPU programs that are inspected from now on use them. They are kept for this machine, for
    later kernels too where `%config JAXStage.cache_dir` names a folder.

    Args:
      progress: called with the seconds taken and what is measured next.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with _on_cpu():
        measured = replace(_measured(progress), load=load)
    if measured.was_busy and (before := machine_ceilings.measured_before()) is not None:
        measured = machine_ceilings.best_of(measured, before)
    machine_ceilings.keep(measured)
    return measured


def _measured(progress: Progress) -> MachineCeilings:
    steps = _Steps(progress)
    products = {}
    for dtype, name in PRODUCTS.items():
        steps.next(f"products of {dtype}")
        products[dtype] = ceiling_runs.product_rate(name)
    steps.next("memory")
    cache = ceiling_runs.last_level_cache() or ceiling_runs.ASSUMED
    memory = ceiling_runs.memory_rate(_beyond(cache))
    steps.next("caches")
    in_cache = ceiling_runs.cache_rate(cache // 2)
    steps.next("functions")
    functions = tuple(ceiling_runs.function_rates(kind) for kind in range(len(ceiling_runs.FUNCTIONS)))
    return MachineCeilings(
        products,
        memory,
        cache,
        max(in_cache, memory),
        functions,
        machine_ceilings.cpu_model(),
        machine_ceilings.cores(),
        datetime.date.today().isoformat(),
    )


def _beyond(cache: int) -> int:
    """Bytes of an array that the caches cannot hold."""
    half = memory_limit.half_of_machine()
    return min(_STREAM * cache, 2 * half // _MEMORY_SHARE) if half else _STREAM * cache


@contextlib.contextmanager
def _on_cpu() -> Iterator[None]:
    """JAX with its first CPU device and 64-bit types."""
    enabled: Any = jax.enable_x64
    with jax.default_device(jax.local_devices(backend="cpu")[0]), enabled(True):
        yield


class _Steps:
    def __init__(self, progress: Progress) -> None:
        self._progress, self._began = progress, time.perf_counter()

    def next(self, step: str) -> None:
        """Report the step that follows."""
        self._progress(time.perf_counter() - self._began, step)
