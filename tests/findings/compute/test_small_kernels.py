"""Programs that launches bound on a GPU, and that unrolling their scan launches fewer kernels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import small_kernels
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome

STEPS = 1000
H, W = jax.ShapeDtypeStruct((8, 64), jnp.float32), jax.ShapeDtypeStruct((64, 64), jnp.float32)
H_ROWS = jax.ShapeDtypeStruct((4096, 64), jnp.float32)
XS = jax.ShapeDtypeStruct((STEPS, 8, 64), jnp.float32)


def recurrent(h: Any, w: Any, xs: Any) -> Any:
    return jax.lax.scan(lambda h, x: (jnp.tanh(h @ w + x), None), h, xs)[0]


def arrays(tree: Any) -> Any:
    return {name: jnp.sin(value) @ value.T for name, value in tree.items()}


def test_recurrent_network_of_small_steps() -> None:
    ins = inspect(recurrent, H, W, XS, target="h100")
    [finding] = [one for one in ins.findings if one.kind is small_kernels.DETECTOR.kind]
    assert finding.stake.measure is StakeMeasure.LAUNCHES
    assert finding.stake.whole >= 3 * STEPS  # at least a slice, a product and what follows it in each step
    assert finding.line.endswith(f"test_small_kernels.py:{recurrent.__code__.co_firstlineno + 1}")
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert 0 < made.realised <= finding.stake.most


def test_map_over_small_elements() -> None:
    """`jax.lax.map` is a scan that hands nothing on: with a batch size each iteration computes many elements."""
    ins = inspect(lambda xs: jax.lax.map(lambda x: jnp.sin(x) @ jnp.cos(x), xs), H_ROWS, target="h100")
    [finding] = [one for one in ins.findings if one.kind is small_kernels.DETECTOR.kind]
    assert "batch_size=" in finding.change.code
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert made.realised > 0.9 * finding.stake.whole


def test_large_steps_are_not_found() -> None:
    large = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((512, 4096), (4096, 4096), (STEPS, 512, 4096))]
    assert small_kernels.find(inspect(recurrent, *large, target="h100").program) == []


def test_few_kernels_are_not_found() -> None:
    few = {str(at): H for at in range(20)}
    assert small_kernels.find(inspect(arrays, few, target="h100").program) == []


def test_only_on_a_gpu() -> None:
    assert not small_kernels.applies(inspect(recurrent, H, W, XS, target="cpu:1").program)
