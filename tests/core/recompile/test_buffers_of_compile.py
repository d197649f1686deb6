"""A TPU's or GPU's buffer assignment comes with its compile: Memory and Answers compile nothing a second time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs

import jaxstage_ext
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.ir.hlo import buffer_assignment
from jaxstage_ext.store import cache

W, X = jax.ShapeDtypeStruct((256, 128), jnp.float32), jax.ShapeDtypeStruct((64, 256), jnp.float32)
TARGETS = {"v5e:2x2": "tpu", "h100": "cuda"}


def loss(w: Any, x: Any) -> Any:
    return jnp.sum(jax.nn.gelu(x @ w))


@pytest.mark.parametrize("is_cached", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_memory_and_answers_compile_nothing(target: str, is_cached: bool, asked: list[str]) -> None:
    needs(TARGETS[target])
    cache.enable(is_cached)
    found = jaxstage_ext.inspect(jax.grad(loss), W, X, target=target)
    assert asked.count("compile") == 1
    assert "live at" in str(found.memory)
    assert str(found.answers)
    assert "memory" not in asked
    assert asked.count("compile") == 1


@pytest.mark.parametrize("target", TARGETS)
def test_it_is_what_a_compile_for_it_alone_gives(target: str) -> None:
    needs(TARGETS[target])
    cache.enable(False)
    found = jaxstage_ext.inspect(jax.grad(loss), W, X, target=target)
    prepared = preparation.prepared(found.program.staged)
    alone = prepared.recompile("memory", found.program.staged.limits)
    one, other = (buffer_assignment.read(proto) for proto in (found.compiled.assigned, alone["proto"]))
    assert one is not None and other is not None
    assert one.allocations.size.tolist() == other.allocations.size.tolist()
    assert alone["stats"] == found.compiled.memory[0]


def test_a_dump_that_the_user_asks_for_is_left_alone(tmp_path: Path, asked: list[str]) -> None:
    needs("tpu")
    options = {"xla_dump_to": str(tmp_path)}
    found = jaxstage_ext.inspect(loss, W, X, target="v5e:2x2", compiler_options=options)
    assert "live at" in str(found.memory)
    assert asked[:2] == ["compile", "memory"]
    assert list(tmp_path.iterdir())


def test_no_dump_is_left(workers_of_our_own: Path) -> None:
    needs("tpu")
    jaxstage_ext.inspect(loss, W, X, target="v5e:2x2")
    assert [path.name for path in workers_of_our_own.rglob("*.hlo.pb")] == []
