"""Measuring this machine's ceilings: what is measured, with small programs; the caches that the system reports."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext.core.targets import last_level_cache, machine_ceilings
from jaxstage_ext.profiling.timing import measure_ceilings


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    machine_ceilings.forget()


def test_products_memory_caches_and_functions_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_ceilings, "LARGEST_PRODUCT", 256)
    monkeypatch.setattr(measure_ceilings, "_AT_BEST", 0.0)
    monkeypatch.setattr(measure_ceilings, "last_level_cache", lambda: 1 << 20)
    steps: list[str | None] = []
    measured = jaxstage_ext.measure_ceilings(lambda seconds, step: steps.append(step))
    assert list(measured.products) == ["f32", "f64", "bf16", "f16", "s8"]
    assert all(1e7 < rate < 1e16 for rate in measured.products.values())
    assert measured.bandwidth is not None
    assert measured.cache_bandwidth is not None
    assert 1e7 < measured.bandwidth <= measured.cache_bandwidth < 1e14
    assert all(slow < fast for slow, fast in measured.functions)
    assert machine_ceilings.of_this_machine() == measured
    assert steps[-1] == "functions"
    assert not jax.config.jax_enable_x64


def test_the_peak_of_products_is_at_least_of_the_order_of_numpy_s() -> None:
    values = np.ones((256, 256), np.float32)
    seconds = min(_seconds(lambda: values @ values) for _ in range(5))
    assert measure_ceilings.product_rate("float32") > 0.02 * 2 * 256**3 / seconds


def _seconds(run: Any) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _cache(folder: Path, cpu: int, index: int, level: int, kind: str, size: str, shared: str) -> None:
    made = folder / f"cpu{cpu}" / "cache" / f"index{index}"
    made.mkdir(parents=True)
    for name, text in (("level", str(level)), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
        (made / name).write_text(f"{text}\n")


def test_the_last_level_of_each_socket_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu in range(4):
        _cache(tmp_path, cpu, 0, 1, "Data", "32K", str(cpu))
        _cache(tmp_path, cpu, 1, 1, "Instruction", "64K", str(cpu))
        _cache(tmp_path, cpu, 3, 3, "Unified", "16M", "0-1" if cpu < 2 else "2-3")
    monkeypatch.setattr(last_level_cache.os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    assert last_level_cache.last_level_cache(tmp_path) == 32 << 20
    monkeypatch.setattr(last_level_cache.os, "sched_getaffinity", lambda pid: {0, 1})
    assert last_level_cache.last_level_cache(tmp_path) == 16 << 20


def test_caches_that_the_system_does_not_report_are_unknown(tmp_path: Path) -> None:
    assert last_level_cache.last_level_cache(tmp_path) is None


def test_a_busy_machine_lowers_no_ceiling_that_was_measured_before(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = machine_ceilings.MachineCeilings({"f32": 4e11}, 2e10, 1 << 25, 2e11, ((1.0, 9.0),), cores=2)
    busy = machine_ceilings.MachineCeilings({"f32": 2e11}, 3e10, 1 << 25, 1e11, ((2.0, 8.0),), cores=2, load=7.0)
    both = machine_ceilings.best_of(busy, quiet)
    assert (both.products["f32"], both.bandwidth, both.cache_bandwidth) == (4e11, 3e10, 2e11)
    assert both.functions == ((2.0, 9.0),) and both.was_busy
    monkeypatch.setattr(measure_ceilings, "_measured", lambda progress: busy)
    monkeypatch.setattr(machine_ceilings.os, "getloadavg", lambda: (9.0, 9.0, 9.0))
    machine_ceilings.keep(quiet)
    assert jaxstage_ext.measure_ceilings().products["f32"] == 4e11
