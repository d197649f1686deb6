"""What findings cost beside the inspection they are of. `make benchmarks` prints the table."""

from __future__ import annotations

import statistics
import time
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.detector_list import DETECTORS
from jaxstage_ext.findings.found import found
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.store import cache
from tests.benchmarks.model import step
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark


class Block(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x))
        return x + nn.Dense(128)(nn.gelu(nn.Dense(512)(nn.LayerNorm()(x))))


class Net(nn.Module):
    @nn.compact
    def __call__(self, ids: Any) -> Any:
        x = nn.Embed(512, 128)(ids)
        for _ in range(4):
            x = Block()(x)
        return nn.Dense(512)(x)


def flax_step() -> tuple[Any, tuple[Any, ...]]:
    """A step of four layers with adamw, as flax's examples write it."""
    net, tx, ids = Net(), optax.adamw(1e-3), jnp.zeros((8, 64), jnp.int32)
    params = net.init(jax.random.key(0), ids)

    def train_step(params: Any, state: Any, ids: Any) -> Any:
        def loss(p: Any) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(net.apply(p, ids), ids).mean()

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return train_step, (params, tx.init(params), ids)


def test_findings_of_a_step_of_four_layers() -> None:
    function, arguments = flax_step()
    inspected, cheap, everything = [], [], []
    for _ in range(3):
        jax.clear_caches()
        cache.clear()
        started = time.perf_counter()
        ins = inspect(function, *arguments)
        figures = target_figures(ins.program).figures
        inspected.append(time.perf_counter() - started)
        assert figures["time"] and ins.documents["hlo"] and ins.cost
        cheap.append(seconds(lambda: found(ins.program)))  # noqa: B023
        assert ins.memory and ins.passes
        everything.append(seconds(lambda: found(ins.program, everything=True)))  # noqa: B023
    base, first, second = map(statistics.median, (inspected, cheap, everything))
    kinds = f"{len(DETECTORS)} kinds"
    row(
        f"findings without a compile, {kinds}",
        f"{first * 1e3:.0f} ms",
        f"{base:.2f} s inspect and its head",
        "<= 5 % of inspect",
        first <= 0.05 * base,
    )
    row(
        f"all findings once buffers and passes are known, {kinds}",
        f"{second:.2f} s",
        f"{base:.2f} s inspect",
        "<= 1 s",
        second <= 1.0,
    )


def test_findings_of_a_large_program() -> None:
    function, arguments = step(12)
    started = time.perf_counter()
    ins = inspect(function, *arguments)
    base = time.perf_counter() - started
    ins.documents["hlo"]
    took = seconds(lambda: found(ins.program))
    count = len(ins.program.module.names)
    row(f"findings of {count:,} instructions", f"{took:.2f} s", f"{base:.2f} s inspect", "<= inspect", took <= base)
