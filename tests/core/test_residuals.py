"""What the backward pass keeps, against JAX's own `saved_residuals`, policy by policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax._src.ad_checkpoint import saved_residuals

from jaxstage_ext import inspect
from jaxstage_ext.analysis.memory import memory_tables
from jaxstage_ext.core.derivative import residuals
from jaxstage_ext.report.unavailable import Unavailable

W = {"a": jnp.ones((8, 8)), "b": jnp.ones((8, 8))}
X = jnp.ones((4, 8))


def layers(w: Any, x: jax.Array) -> jax.Array:
    for _ in range(2):
        x = jnp.sin(x @ w["a"])
        x = jax.nn.gelu(x @ w["b"])
    return x.sum()


def scanned(w: Any, x: jax.Array) -> jax.Array:
    def body(carry: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jnp.tanh(carry @ w["a"]), None

    return jax.lax.scan(body, x, None, length=3)[0].sum()


def called(w: Any, x: jax.Array) -> jax.Array:
    inner = jax.jit(lambda x: jnp.exp(x @ w["b"]) * x)
    return inner(inner(x)).sum()


def attention(w: Any, x: jax.Array) -> jax.Array:
    scores = jnp.einsum("id,jd->ij", x @ w["a"], x @ w["b"])
    return (jax.nn.softmax(scores) @ x).sum()


def named(w: Any, x: jax.Array) -> jax.Array:
    from jax.ad_checkpoint import checkpoint_name

    return jnp.sin(checkpoint_name(x @ w["a"], "kept") @ w["b"]).sum()


PROGRAMS = [layers, scanned, called, attention, named]
POLICIES: list[Any] = [None, *memory_tables.POLICIES, jax.checkpoint_policies.save_only_these_names("kept")]


def by_jax(function: Callable[..., Any], policy: Any) -> tuple[int, int]:
    """(bytes of arguments, bytes saved)."""
    chosen = getattr(jax.checkpoint_policies, policy) if isinstance(policy, str) else policy
    wrapped = function if policy is None else jax.checkpoint(function, policy=chosen)
    arguments = saved = 0
    for aval, source in saved_residuals(wrapped, W, X):
        if "literal" not in source:
            size = aval.size * aval.dtype.itemsize
            arguments, saved = (arguments + size, saved) if "argument" in source else (arguments, saved + size)
    return arguments, saved


def step(function: Callable[..., Any]) -> Callable[..., Any]:
    def update(w: Any, x: jax.Array) -> Any:
        return jax.tree.map(lambda p, g: p - 0.1 * g, (w, x), jax.grad(function, argnums=(0, 1))(w, x))

    return update


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: getattr(policy, "__name__", str(policy)))
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_as_much_as_jax_says(function: Callable[..., Any], policy: Any) -> None:
    found = residuals.read(jax.jit(step(function)).trace(W, X), policy)
    arguments = sum(one.size for one in found if one.is_argument)
    assert (arguments, sum(one.size for one in found) - arguments) == by_jax(function, policy)


def test_inside_a_jitted_step_and_a_loop_over_batches() -> None:
    plain = residuals.read(jax.jit(step(layers)).trace(W, X))

    def epoch(w: Any, xs: jax.Array) -> Any:
        return jax.lax.scan(lambda w, x: (jax.jit(step(layers))(w, x)[0], None), w, xs)[0]

    inside = residuals.read(jax.jit(epoch).trace(W, jnp.stack([X, X])))
    assert [one.size for one in inside if not one.is_argument] == [one.size for one in plain if not one.is_argument]


def test_lines_are_those_that_make_the_values() -> None:
    found = residuals.read(jax.jit(step(scanned)).trace(W, X))
    first = scanned.__code__.co_firstlineno
    saved = [one for one in found if not one.is_argument]
    assert saved and {one.line.rpartition(":")[2] for one in saved} == {str(first + 2)}, (
        "the carry too is computed in the body"
    )
    assert {one.line for one in found if one.is_argument} == {"w['a']"}
    assert saved[0].shape == "f32[3,4,8]"


def test_tables() -> None:
    memory = inspect(step(layers), W, X, stage="lower").memory
    table = memory.residuals()
    assert table["made by"][0] in ("argument", "sin", "cos", "mul", "dot_general") and "Kept for" in str(table)
    lines = memory_tables.by_line(memory.residual_arrays())
    assert sum(lines["size"]) == by_jax(layers, None)[1]
    kept = dict(zip(memory.policies()["policy"], memory.policies()["residuals"], strict=True))
    assert kept["as written"] == by_jax(layers, None)[1]
    assert kept["nothing_saveable"] == 0 < kept["dots_saveable"] < kept["as written"]


def test_what_cannot_be_read() -> None:
    traced = jax.jit(step(layers)).trace(W, X)
    with pytest.raises(ValueError, match=r"'dots_savable' is not a policy.*did you mean 'dots_saveable'"):
        residuals.read(traced, "dots_savable")
    with pytest.raises(ValueError, match="is not a policy"):
        residuals.read(traced, 3)  # type: ignore[arg-type]
    with pytest.raises(Unavailable, match="computes no derivative"):
        residuals.read(jax.jit(layers).trace(W, X))


def test_a_function_that_jax_calls_is_named() -> None:
    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return (jax.nn.relu(x @ w) @ w.T).sum()

    traced = jax.jit(jax.grad(loss)).trace(jnp.ones((4, 8)), jnp.ones((2, 4)))
    assert "relu" in {kept.made_by for kept in residuals.read(traced)}
