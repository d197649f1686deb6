"""The head of a program says whether JAX's persistent cache had its executable, and before a compile whether it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.compilation_cache import compilation_cache

from jaxstage_ext import inspect
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.store import cache

NAMES = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before, was_enabled, was_on = (
        {name: getattr(jax.config, name) for name in NAMES},
        cache.enabled(),
        listening.is_on(),
    )
    cache.enable(False)
    listening.start()
    jax.config.update(NAMES[0], str(tmp_path / "cache"))
    jax.config.update(NAMES[1], 0.0)
    compilation_cache.reset_cache()
    yield tmp_path / "cache"
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    cache.enable(was_enabled)
    if not was_on:
        listening.stop()


def cached_step(x: jax.Array) -> jax.Array:
    return jnp.sum(jnp.tanh(x * 2))


def figures(inspection: Any) -> list[dict[str, Any]]:
    return [fact for fact in inspection.summary()["facts"] if fact["label"] == "persistent cache"]


def test_hit_and_miss_and_the_key_before_and_after_the_compile(folder: Path) -> None:
    x = jnp.ones((4, 8))
    [before] = figures(inspect(cached_step, x, stage="lower"))
    [missed] = figures(inspect(cached_step, x))
    [entry] = [path.name.removesuffix("-cache") for path in folder.glob("jit_cached_step-*-cache")]
    jax.clear_caches()
    [after] = figures(inspect(cached_step, x, stage="lower"))
    hit_inspection = inspect(cached_step, x)
    [hit] = figures(hit_inspection)
    assert [one["text"] for one in (before, missed, after, hit)] == ["will miss", "miss, written", "will hit", "hit"]
    assert all(f"key {entry}, folder " in one["note"] for one in (before, missed, after, hit))
    assert "persistent cache hit" in repr(hit_inspection)


def test_a_miss_says_what_differs_from_the_nearest_entry(folder: Path) -> None:
    inspect(cached_step, jnp.ones((4, 8)))
    [lowered] = figures(inspect(cached_step, jnp.ones((5, 8)), stage="lower"))
    assert "tensor<4x8xf32>" in lowered["note"]
    assert "tensor<5x8xf32>" in lowered["note"]
    [optioned] = figures(inspect(cached_step, jnp.ones((4, 8)), compiler_options={"xla_cpu_enable_fast_math": True}))
    assert "xla_cpu_enable_fast_math: was not set, is True" in optioned["note"]


def test_without_a_folder_nothing_is_said() -> None:
    assert jax.config.jax_compilation_cache_dir is None
    assert figures(inspect(cached_step, jnp.ones((4, 8)))) == []
    assert figures(inspect(cached_step, jnp.ones((4, 8)), stage="lower")) == []
