"""What the backward pass of an unrolled network reads, where a checkpoint around each layer lets less be live."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.core.jax_private import layer_checkpoints, rematerialized
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import scarce_memory

LAYERS, N = 6, 256


def layer(w: Any, x: Any) -> Any:
    return x + jax.nn.relu(jax.nn.relu(x @ w) @ w.T) @ w


def loss(ws: Any, x: Any) -> Any:
    for w in ws:
        x = layer(w, x)
    return jnp.mean(x**2)


def checkpointed(ws: Any, x: Any) -> Any:
    for w in ws:
        x = jax.checkpoint(layer)(w, x)
    return jnp.mean(x**2)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def arguments(batch: int) -> tuple[Any, Any]:
    return [f32(N, N)] * LAYERS, f32(batch, N)


def of(function: Any, batch: int, **options: Any) -> list[Any]:
    found = inspect(jax.value_and_grad(function), *arguments(batch), **options).findings
    assert FindingKind.RESIDUALS in found.looked
    return [one for one in found if one.kind is FindingKind.RESIDUALS]


BATCH = 32_768


@pytest.mark.parametrize("target", ["h100"])  # libtpu takes minutes for such a program
def test_it_names_the_layer_and_saves_what_a_checkpoint_by_hand_saves(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a device of a tenth of the memory, so that a small program is large for it."""
    monkeypatch.setattr(scarce_memory, "SCARCE", 0.0)
    [one] = of(loss, BATCH, target=target)
    assert one.names == ("layer",)
    assert int(one.line.rpartition(":")[2]) == loss.__code__.co_firstlineno + 2
    assert "+        x = jax.checkpoint(layer)(w, x)" in one.change.code.splitlines()
    trial = one.try_()
    if one.stake.whole is None:  # JAX 0.10 does not say what an executable for an absent device takes
        assert trial.outcome is TrialOutcome.UNKNOWN
    else:
        assert trial.outcome is TrialOutcome.PAYS
        assert trial.realised <= one.stake.most
    by_hand = inspect(jax.value_and_grad(checkpointed), *arguments(BATCH), target=target).program.memory_statistics
    after = trial.after.memory_statistics.sizes["temp_size_in_bytes"]
    assert after == pytest.approx(by_hand.sizes["temp_size_in_bytes"], rel=0.35)


@pytest.mark.parametrize(
    ("function", "batch", "scarce"),
    [(checkpointed, BATCH, 0.0), (loss, BATCH, 0.2), (loss, 64, 0.0)],
    ids=["checkpointed", "enough memory", "toy"],
)
def test_twins_have_no_finding(function: Any, batch: int, scarce: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scarce_memory, "SCARCE", scarce)
    for one in of(function, batch, target="h100"):  # JAX 0.10 does not say what memory an absent device needs
        assert scarce and one.stake.whole is None


def test_the_changed_program_computes_the_same() -> None:
    """By running both."""
    r = np.random.default_rng(0)
    ws, x = [r.standard_normal((N, N), np.float32) / N for _ in range(LAYERS)], r.random((64, N), np.float32)
    traced = jax.jit(jax.value_and_grad(loss, (0, 1))).trace(ws, x)
    parts = layer_checkpoints.read(traced.jaxpr.jaxpr)
    assert parts is not None
    assert parts.count > 1
    changed = rematerialized.with_jaxpr(traced, layer_checkpoints.checkpointed).lower().compile()
    written = traced.lower().compile()
    for made, plain in zip(jax.tree.leaves(changed(ws, x)), jax.tree.leaves(written(ws, x)), strict=True):
        np.testing.assert_allclose(made, plain, rtol=1e-4, atol=1e-6)
