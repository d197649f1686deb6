"""`jaxstage_ext.measure_ceilings`: how fast this machine's CPU computes and moves data through XLA."""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.core.targets.last_level_cache import ASSUMED, beyond, last_level_cache
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.report.progress import Progress, silent

PRODUCTS = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "s8": "int8"}


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
        products[dtype] = product_rate(name)
    steps.next("memory")
    cache = last_level_cache() or ASSUMED
    memory = memory_rate(beyond(cache))
    steps.next("caches")
    in_cache = cache_rate(cache // 2)
    steps.next("functions")
    functions = tuple(function_rates(kind) for kind in range(len(FUNCTIONS)))
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


LARGEST_PRODUCT = 4096
_SMALLEST_PRODUCT = 256
_BEST_OF, _LONGEST = 5, 0.12
"""Runs of each program, and seconds that a single run of the next larger one may take."""
_AT_EACH, _AT_BEST = 0.03, 0.15
"""Seconds for which each product is repeated, and those of the best sizes, since the machine may be busy for a moment.
"""
_CACHED = (256 << 10, 1 << 20, 4 << 20)
"""Bytes of the arrays that are to fit in caches."""
_REPEATS = 32
_FUNCTION_ELEMENTS = 1 << 19
_MARGIN = 2.0
"""How many times slower or faster than those measured the other functions of their kind may be."""
FUNCTIONS: tuple[tuple[str, ...], ...] = (("exp", "log", "tanh"), ("erf", "power"), ("sin",))
"""Transcendental functions that are easy, hard and very hard to compute, as `analysis.cost.arithmetic` sorts them."""


def product_rate(dtype: str) -> float:
    """Operations per second of the fastest product of two square matrices, over growing sizes.

    The two best sizes are repeated: a busy moment may have slowed one of them.
    """
    size, rates = _SMALLEST_PRODUCT, dict[int, float]()
    while size <= LARGEST_PRODUCT:
        seconds = _product_seconds(dtype, size, _AT_EACH)
        rates[size] = 2 * size**3 / seconds
        if 8 * seconds > _LONGEST:
            break
        size *= 2
    best = sorted(rates, key=lambda size: -rates[size])[:2]
    repeated = (2 * size**3 / _product_seconds(dtype, size, _AT_BEST) for size in best)
    return max(*rates.values(), *repeated)


def _product_seconds(dtype: str, size: int, at_least: float) -> float:
    values = jnp.ones((size, size), dtype)
    wide = jnp.int32 if dtype == "int8" else None
    return _fastest(functools.partial(_product, wide), values, values, at_least=at_least)


@functools.partial(jax.jit, static_argnums=0)
def _product(wide: Any, x: Any, y: Any) -> Any:
    return jnp.matmul(x, y, preferred_element_type=wide)


def memory_rate(size: int) -> float:
    """Bytes per second of an array of so many bytes: scaled in place, as STREAM's "scale", or summed, the faster.

    Reading alone may be faster than reading and writing, and a ceiling bounds both.
    """
    values = jnp.ones(size // 4, jnp.float32)
    read = size / _fastest(jax.jit(jnp.sum), values)
    return max(read, 2 * size / _fastest_in_place(jax.jit(_scaled, donate_argnums=0), values))


def cache_rate(largest: int) -> float:
    """Bytes per second of arrays that fit in caches, scaled in place many times in one program; the best over sizes."""
    scale = jax.jit(_scaled_repeatedly, donate_argnums=0)
    sizes = [size for size in _CACHED if size <= largest] or [largest]
    made = ((size, jnp.ones(size // 4, jnp.float32)) for size in sizes)
    return max(2 * size * _REPEATS / _fastest_in_place(scale, values) for size, values in made)


def function_rates(kind: int) -> tuple[float, float]:
    """Functions of f32 per second of the slowest and the fastest of a kind, with a margin for those not measured."""
    values = jnp.linspace(0.1, 0.9, _FUNCTION_ELEMENTS, dtype=jnp.float32)
    programs = [jax.jit(functools.partial(_apply, name)) for name in FUNCTIONS[kind]]
    rates = [values.size / _fastest(program, values) for program in programs]
    return min(rates) / _MARGIN, max(rates) * _MARGIN


def _apply(name: str, x: Any) -> Any:
    if name == "power":
        return x**x
    return jax.lax.erf(x) if name == "erf" else getattr(jnp, name)(x)


def _scaled(x: Any) -> Any:
    return x * 0.5 + 1.0


def _scaled_repeatedly(x: Any) -> Any:
    return jax.lax.fori_loop(0, _REPEATS, lambda _, y: _scaled(y), x)


def _fastest(program: Callable[..., Any], *values: Any, at_least: float = 0.0) -> float:
    """Seconds of the fastest run, after one that compiles: of five, and of as many as `at_least` seconds take."""
    _wait(program(*values))
    seconds: list[float] = []
    while len(seconds) < _BEST_OF or sum(seconds) < at_least:
        seconds.append(_seconds(lambda: program(*values))[0])
    return min(seconds)


def _fastest_in_place(program: Callable[[Any], Any], values: Any) -> float:
    """Seconds of the fastest run of a program that donates its argument, which is the last run's result."""
    last, fastest = [_wait(program(values))], float("inf")
    for _ in range(2 * _BEST_OF):
        seconds, made = _seconds(lambda: program(last.pop()))
        fastest, last[:] = min(fastest, seconds), [made]
        del made
    return fastest


def _seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter_ns()
    made = _wait(run())
    return (time.perf_counter_ns() - began) / 1e9, made


def _wait(values: Any) -> Any:
    return jax.block_until_ready(values)  # type: ignore[no-untyped-call]
