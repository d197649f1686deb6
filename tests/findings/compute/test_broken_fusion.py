"""Barriers between operations that XLA would fuse, and barriers that keep nothing apart."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import broken_fusion
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome

X = jax.ShapeDtypeStruct((2048, 2048), jnp.float32)
SIZE = 4 * 2048 * 2048


def with_barrier(x: Any) -> Any:
    y = jax.lax.optimization_barrier(jnp.sin(x) * 2)
    return jnp.exp(y) + 1


def between_products(x: Any) -> Any:
    return jax.lax.optimization_barrier(x @ x) @ x


def checkpointed(x: Any) -> Any:
    return jax.grad(lambda x: jax.checkpoint(lambda x: jnp.exp(jnp.sin(x)))(x).sum())(x)


@pytest.mark.parametrize("target", ["cpu:1", "v5e:2x2", "h100"])
def test_leaving_the_barrier_out_pays(target: str) -> None:
    ins = inspect(with_barrier, X, target=target)
    if not broken_fusion.applies(ins.program):
        without = inspect(lambda x: jnp.exp(jnp.sin(x) * 2) + 1, X, target=target)
        assert ins.cost.work.total_bytes == without.cost.work.total_bytes  # the barrier costs nothing there
        return
    [finding] = [one for one in ins.findings if one.kind is broken_fusion.DETECTOR.kind]
    assert finding.stake.measure is StakeMeasure.MOVED
    assert finding.stake.most == 2 * SIZE  # the value between, written and read
    assert finding.line.endswith(f"test_broken_fusion.py:{with_barrier.__code__.co_firstlineno + 1}")
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert made.realised == pytest.approx(finding.stake.most, rel=0.01)
    assert broken_fusion.find(made.after) == []


@pytest.mark.parametrize("fn", [between_products, checkpointed, lambda x: jnp.exp(jnp.sin(x))])
def test_barriers_that_keep_nothing_apart(fn: Any) -> None:
    assert broken_fusion.find(inspect(fn, X, target="cpu:1").program) == []
