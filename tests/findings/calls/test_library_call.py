"""Modules that a library's jit takes apart in each call. That it does is read in its source; the change is run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.jax_private import python_nodes
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind

X = jnp.ones((4, 8))


class Net(nnx.Module):
    def __init__(self, depth: int) -> None:
        rngs = nnx.Rngs(0)
        self.layers = nnx.List([nnx.Linear(8, 8, rngs=rngs) for _ in range(depth)])

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = jax.nn.relu(layer(x))
        return x


@nnx.jit
def step(net: Net, optimizer: Any, x: Any) -> Any:
    loss, grads = nnx.value_and_grad(lambda net: jnp.mean(net(x) ** 2))(net)
    optimizer.update(net, grads)
    return loss


@eqx.filter_jit
def forward(blocks: Any, x: Any) -> Any:
    for block in blocks:
        x = jax.vmap(block)(x)
    return x


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.PYTHON_CALL]


def test_nnx_takes_a_graph_apart_in_each_call() -> None:
    net = Net(40)
    optimizer = nnx.Optimizer(net, optax.adam(1e-3), wrt=nnx.Param)
    [one] = found(inspect(step, net, optimizer, X, stage="trace"))
    assert one.names == ("net", "optimizer")
    assert one.stake.measure is StakeMeasure.HOST and one.stake.least > 1e-3


def test_the_change_for_nnx_runs_as_it_is_written_and_still_trains() -> None:
    net = Net(40)
    optimizer = nnx.Optimizer(net, optax.adam(1e-3), wrt=nnx.Param)
    [one] = found(inspect(step, net, optimizer, X, stage="trace"))
    exec(one.change.code, {"nnx": nnx, "step": step, "net": net, "optimizer": optimizer, "x": X})
    assert int(optimizer.step[...]) == 1


def test_a_small_nnx_model() -> None:
    """One layer without an optimizer takes a few dozen microseconds."""
    assert found(inspect(nnx.jit(lambda net, x: net(x)), Net(1), X, stage="trace")) == []


def test_a_function_of_the_state_of_an_nnx_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its 81 nodes of Python's are another cause, which on a busy machine takes more than it may."""
    monkeypatch.setattr(python_nodes, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    graph, state = nnx.split(Net(40))
    assert found(inspect(jax.jit(lambda state, x: nnx.merge(graph, state)(x)), state, X, stage="trace")) == []


def test_an_nnx_function_without_modules() -> None:
    assert found(inspect(nnx.jit(lambda x: x * 2), X, stage="trace")) == []


def test_a_device_that_takes_longer_than_python() -> None:
    """2 x 16384**3 FLOPs and more are at least 9 s of a device that does 1 TFLOP/s."""
    wide = jax.ShapeDtypeStruct((16384, 16384), jnp.float32)
    made = inspect(nnx.jit(lambda net, x: net(X).sum() + x @ x), Net(40), wide, target="cpu:1")
    assert found(made) == []


@pytest.fixture(scope="module")
def blocks() -> list[Any]:
    return [eqx.nn.MLP(8, 8, 8, 60, key=jax.random.key(at)) for at in range(8)]


def test_equinox_flattens_modules_in_python(blocks: list[Any]) -> None:
    [one] = found(inspect(forward, blocks, X, stage="trace"))
    assert one.names == ("blocks",)
    depth = eqx.filter_jit(lambda blocks, x: x + blocks[0].depth)
    known: dict[str, Any] = {"eqx": eqx, "jax": jax, "forward": depth, "blocks": blocks}
    exec(one.change.code, known)
    assert (known["forward_of_leaves"](known["leaves"], X) == X + 60).all()


def test_a_small_module_of_equinox(blocks: list[Any]) -> None:
    assert found(inspect(forward, blocks[:1], X, stage="trace")) == []
