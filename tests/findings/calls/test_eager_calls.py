"""Functions that ran outside of `jax.jit`, by the operations that JAX compiled one by one for their lines."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from heard_compiles import heard_compiles

from jaxstage_ext import inspect
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind

SOURCE = """
import jax, jax.numpy as jnp

def step(x, w):
    for _ in range(5):
        x = jnp.tanh(x @ w) * 0.5 + x
    return x

def loss(w, x):
    for _ in range(5):
        x = jnp.sin(x @ w) * 0.25 - x
    return x.sum()
"""
X, W = jnp.ones((8, 31)), jnp.ones((31, 31))


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Any]:
    LOG.clear()
    jax.clear_caches()  # so that JAX compiles each operation anew, which is what the log hears
    file = tmp_path / "eager_model.py"
    file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("eager_model", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with heard_compiles():
        yield module


def found(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    findings = inspect(function, *arguments, stage="trace").findings
    return [one for one in findings if one.kind is FindingKind.EAGER_CALL]


def test_a_function_that_ran_outside_of_jit(model: Any) -> None:
    model.step(X, W)
    [one] = found(model.step, X, W)
    assert one.stake.measure is StakeMeasure.DISPATCHES
    assert (one.stake.most, one.stake.whole) == (19, 20)  # five times a product, tanh, a multiplication and a sum
    assert one.change.lines == ["@jax.jit"]
    assert one.line.endswith("eager_model.py:4")


def test_a_gradient_that_ran_outside_of_jit(model: Any) -> None:
    jax.grad(model.loss)(W, X)
    [one] = found(jax.grad(model.loss), W, X)
    assert "jax.jit(" in one.change.code and not one.change.is_diff


def test_a_function_that_never_ran(model: Any) -> None:
    assert found(model.step, X, W) == []


def test_a_function_that_is_jitted_somewhere(model: Any) -> None:
    model.step(X, W)
    jax.jit(model.step)(X, W)
    assert found(model.step, X, W) == []


def test_a_jitted_function(model: Any) -> None:
    model.step(X, W)
    assert found(jax.jit(model.step), X, W) == []
