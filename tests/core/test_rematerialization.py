"""A program with a checkpoint policy, built from its jaxpr, is the one that `jax.checkpoint` around the loss gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from crossed import crossed

from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.report.unavailable import Unavailable

W = [jax.random.normal(jax.random.key(i), (64, 64)) / 8 for i in range(4)]
X = jax.random.normal(jax.random.key(9), (256, 64))
Loss = Callable[[Any, jax.Array], jax.Array]


def layers(w: Any, x: jax.Array) -> jax.Array:
    for one in w:
        x = jax.nn.gelu(jnp.tanh(x @ one))
    return (x**2).sum()


def scanned(w: Any, x: jax.Array) -> jax.Array:
    def body(h: jax.Array, one: jax.Array) -> tuple[jax.Array, None]:
        return jax.nn.gelu(jnp.tanh(h @ one)), None

    return (jax.lax.scan(body, x, jnp.stack(w))[0] ** 2).sum()


def attention(w: Any, x: jax.Array) -> jax.Array:
    for one in w:
        x = x + jax.nn.relu(jax.nn.softmax(x @ one @ x.T / 8) @ x)
    return (x**2).mean()


def jitted(w: Any, x: jax.Array) -> jax.Array:
    layer = jax.jit(lambda x, one: jnp.sin(jnp.exp(jnp.tanh(x @ one))) * x)
    for one in w:
        x = layer(x, one)
    return x.sum()


def step(loss: Loss) -> Callable[[Any, jax.Array], Any]:
    """A training step with work before and after the derivative."""

    def update(w: Any, x: jax.Array) -> Any:
        value, gradient = jax.value_and_grad(loss)(w, x * 2)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, w, gradient)

    return update


@pytest.mark.parametrize(("loss", "policy"), crossed([layers, scanned, attention, jitted], rematerialization.POLICIES))
def test_it_is_what_jax_checkpoint_compiles_to(loss: Loss, policy: str) -> None:
    chosen = rematerialization.checkpoint_policy(policy)
    ours = rematerialization.with_policy(jax.jit(step(loss)).trace(W, X), chosen).lower().compile()
    theirs = jax.jit(step(jax.checkpoint(loss, policy=chosen))).lower(W, X).compile()
    temporary = [executable.memory_analysis().temp_size_in_bytes for executable in (ours, theirs)]
    assert temporary[0] == pytest.approx(temporary[1], rel=0.01)
    flops = [executable.cost_analysis()["flops"] for executable in (ours, theirs)]
    assert flops[0] == pytest.approx(flops[1], rel=0.01)
    for a, b in zip(jax.tree.leaves(ours(W, X)), jax.tree.leaves(theirs(W, X)), strict=True):
        assert jnp.allclose(a, b)


def test_a_derivative_inside_a_scan_over_batches() -> None:
    def epoch(w: Any, xs: jax.Array) -> Any:
        return jax.lax.scan(lambda w, x: (jax.jit(step(layers))(w, x)[1], None), w, xs)[0]

    traced, batches = jax.jit(epoch).trace(W, jnp.stack([X, X])), jnp.stack([X, X])
    policy = rematerialization.checkpoint_policy("nothing_saveable")
    made = rematerialization.with_policy(traced, policy)
    assert "optimization_barrier" in str(made.jaxpr) and "optimization_barrier" not in str(traced.jaxpr)
    for a, b in zip(
        jax.tree.leaves(made.lower().compile()(W, batches)),
        jax.tree.leaves(traced.lower().compile()(W, batches)),
        strict=True,
    ):
        assert jnp.allclose(a, b, atol=1e-5)


def test_what_cannot_be_built_says_why() -> None:
    policy = rematerialization.checkpoint_policy("nothing_saveable")
    with pytest.raises(Unavailable, match="computes no derivative"):
        rematerialization.with_policy(jax.jit(layers).trace(W, X), policy)

    def printing(w: Any, x: jax.Array) -> jax.Array:
        y = x @ w[0]
        z = jax.experimental.io_callback(lambda v: v, jax.ShapeDtypeStruct(y.shape, y.dtype), jax.lax.stop_gradient(y))
        return jnp.sin(y * z).sum()

    with pytest.raises(Unavailable, match="io_callback has a side effect"):
        rematerialization.with_policy(jax.jit(jax.grad(printing)).trace(W, X), policy)
    already = jax.jit(jax.grad(lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x).sum()))
    with pytest.raises(Unavailable, match=r"is under jax\.checkpoint already"):
        rematerialization.with_policy(already.trace(X), policy)
    over = jax.jit(lambda x: jax.jvp(jax.grad(lambda x: jnp.sin(jnp.exp(x)).sum()), (x,), (x,))[1])
    with pytest.raises(Unavailable, match="another derivative"):
        rematerialization.with_policy(over.trace(X), policy)
    twice = jax.jit(jax.grad(lambda x: jnp.sin(jax.grad(lambda y: jnp.sin(jnp.exp(y)).sum())(x)).sum()))
    with pytest.raises(Unavailable, match="another derivative"):
        rematerialization.with_policy(twice.trace(X), policy)
