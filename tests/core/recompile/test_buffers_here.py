"""The buffer assignment of a program for a device that the kernel holds, as a GPU: one more compile in this process.

There is no GPU here, so the kernel's CPU counts as one; a worker's assignment of the same program is what is right.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax._src import compilation_cache

import jaxstage_ext
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.worker import pool

W, X = jnp.ones((256, 128)), jnp.ones((64, 256))


def loss(w: Any, x: Any) -> Any:
    return jnp.sum(jax.nn.gelu(x @ w) ** 2)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernel's device counts as one that a worker must not open; what workers are asked all the same."""
    asked: list[str] = []
    monkeypatch.setattr(preparation, "held_device", lambda target: "this kernel holds a gpu")
    monkeypatch.setattr(pool, "ask", lambda platform, request, *how, **more: asked.append(request["method"]))
    return asked


def test_it_is_what_a_worker_finds(held: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    here = jaxstage_ext.inspect(jax.grad(loss), W, X).memory
    assert held == []
    monkeypatch.undo()
    worker = jaxstage_ext.inspect(jax.grad(loss), W, X).memory
    assert str(here) == str(worker)
    assert here.space().peak > 0


@pytest.fixture
def fresh_cache() -> Iterator[None]:
    """JAX opens its persistent cache once a process: what this test opens is not the next one's."""
    compilation_cache.reset_cache()
    yield
    compilation_cache.reset_cache()


@pytest.mark.usefixtures("fresh_cache")
def test_nothing_is_left_behind(held: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, dumps = tmp_path / "cache", tmp_path / "dumps"
    dumps.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(dumps))
    jitted = jax.jit(jax.grad(loss))
    with jax._src.config.compilation_cache_dir(str(folder)), jax._src.config.persistent_cache_min_compile_time_secs(0):
        inspection = jaxstage_ext.inspect(jitted, W, X)
        jax.block_until_ready(jitted(W, X))
        before = sorted(path.name for path in folder.glob("*")) if folder.exists() else []
        with jaxstage_ext.expect_compiles(at_most=0):
            assert inspection.memory.space().peak > 0
            jax.block_until_ready(jitted(W, X))
        assert sorted(path.name for path in folder.glob("*") if folder.exists()) == before
    assert not list(dumps.glob("jaxstage-buffers-*"))


def test_a_compile_that_fails_says_so(held: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = jaxstage_ext.inspect(jax.grad(loss), W, X)

    def fails(lowered: Any, options: Any) -> Any:
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room")

    monkeypatch.setattr("jaxstage_ext.core.options.flag_values.compile_lowered", fails)
    with pytest.raises(jax.errors.JaxRuntimeError, match="no room"):
        _ = inspection.memory
