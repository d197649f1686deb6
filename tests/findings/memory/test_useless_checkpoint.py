"""`jax.checkpoint` around all that is differentiated."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import extra_flops
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import useless_checkpoint
from jaxstage_ext.program.device.device_fit import device_fit

LAYERS, N, BATCH = 6, 256, 1024
PRODUCT = 2 * BATCH * N * N


def layer(w: Any, x: Any) -> Any:
    return jnp.tanh(x @ w)


def network(ws: Any, x: Any) -> Any:
    for w in ws:
        x = layer(w, x)
    return x


def whole(ws: Any, x: Any) -> Any:
    return jnp.sum(jax.checkpoint(network)(ws, x) ** 2)


def whole_loss(ws: Any, x: Any) -> Any:
    return jax.checkpoint(lambda ws, x: jnp.sum(network(ws, x) ** 2))(ws, x)


def each(ws: Any, x: Any) -> Any:
    for w in ws:
        x = jax.checkpoint(layer)(w, x)
    return jnp.sum(x**2)


def with_policy(ws: Any, x: Any) -> Any:
    return jnp.sum(jax.checkpoint(network, policy=jax.checkpoint_policies.dots_saveable)(ws, x) ** 2)


def scanned(ws: Any, x: Any) -> Any:
    return jnp.sum(jax.lax.scan(lambda x, w: (jax.checkpoint(layer)(w, x), None), x, ws)[0] ** 2)


def plain(ws: Any, x: Any) -> Any:
    return jnp.sum(network(ws, x) ** 2)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


WS, X = [f32(N, N)] * LAYERS, f32(BATCH, N)


def of(function: Any, *arguments: Any, **options: Any) -> list[Any]:
    found = inspect(function, *arguments, **options).findings
    assert FindingKind.USELESS_CHECKPOINT in found.looked
    return [one for one in found if one.kind is FindingKind.USELESS_CHECKPOINT]


@pytest.mark.parametrize("target", ["local", "v5e:1x1", "h100"])
@pytest.mark.parametrize("function", [jax.grad(whole), jax.value_and_grad(whole_loss)])
def test_around_all_it_costs_the_forward_pass_and_saves_no_memory(function: Any, target: str) -> None:
    """The products of all layers are computed twice, but for the last, which the backward pass does not read."""
    found = of(function, WS, X, target=target)
    if target == "local" and jax.__version_info__ < (0, 12):  # on a CPU, it merges both computations of a value
        return
    [one] = found
    assert one.stake.most == pytest.approx(LAYERS * PRODUCT, rel=0.25)
    trial = one.try_()
    assert trial.outcome is TrialOutcome.PAYS
    assert trial.realised <= 1.02 * one.stake.most
    needed = {each.title: each for each in trial.figures}["memory needed"]
    few = 2 * BATCH * N * 4  # what the end of the forward pass needs, which a GPU's schedule keeps a little longer
    if needed.before.value is not None:  # JAX 0.10 does not say what an executable for an absent device takes
        assert needed.after.value <= needed.before.value + few


@pytest.mark.parametrize("function", [each, with_policy, scanned, plain, whole_loss])
@pytest.mark.parametrize("target", ["local", "v5e:1x1"])
def test_twins_have_no_finding(function: Any, target: str) -> None:
    """The gradient of a whole loss alone computes nothing twice: its forward pass has no result."""
    given = f32(LAYERS, N, N) if function is scanned else WS
    assert of(jax.grad(function), given, X, target=target) == []


def test_its_flops_are_not_told_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra_flops, "_LEAST_FLOPS", 0.0)
    program = inspect(jax.grad(whole), WS, X, target="v5e:1x1").program
    assert useless_checkpoint.find(program) and not extra_flops.find(program)
    monkeypatch.setattr(useless_checkpoint, "find", lambda program: [])
    is_told = device_fit(program).needed is not None  # which JAX 0.10 does not say of an absent device
    assert bool(extra_flops.find(program)) is is_told, "it is told where the other says nothing"
