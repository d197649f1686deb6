"""A loop over pieces computes what the equations compute whole: known by running both."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.rewrites import computed_in_pieces, piecewise
from jaxstage_ext.report.unavailable import Unavailable


def cross_entropy(w: Any, x: Any, labels: Any) -> Any:
    scores = jax.nn.log_softmax(x @ w)
    return -jnp.mean(jnp.take_along_axis(scores, labels[..., None], -1))


def by_one_hot(w: Any, x: Any, labels: Any) -> Any:
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w) * jax.nn.one_hot(labels, w.shape[1]), -1))


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bthd,bshd->bhts", q, k)
    hidden = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(hidden), v)


def pairs(x: Any) -> Any:
    return jax.vmap(lambda a: jnp.argmin(jnp.sum((a - x) ** 2, -1) + jnp.sum(a == x, -1)))(x)


def drawn(seed: Any) -> Any:
    keys = jax.random.split(jax.random.key(seed), 64)
    return jnp.mean(jax.vmap(lambda key: jnp.max(jax.random.normal(key, (512,))))(keys))


def in_scan(w: Any, xs: Any, labels: Any) -> Any:
    def step(total: Any, batch: Any) -> Any:
        return total + jax.grad(cross_entropy)(w, *batch), None

    return jax.lax.scan(step, jnp.zeros_like(w), (xs, labels))[0]


def normal(*shape: int, dtype: Any = jnp.float32) -> Any:
    return jnp.asarray(np.random.default_rng(len(shape)).standard_normal(shape) * 0.3, dtype)


W, X, LABELS = normal(16, 512), normal(4, 32, 16), jnp.arange(128).reshape(4, 32)
Q = normal(1, 128, 4, 8)
CASES = {
    "cross entropy": (jax.value_and_grad(cross_entropy, (0, 1)), (W, X, LABELS)),
    "by one-hot": (jax.value_and_grad(by_one_hot, (0, 1)), (W, X.reshape(128, 16), LABELS.reshape(128))),
    "attention": (attention, (Q, Q, Q)),
    "attention's gradient": (jax.grad(lambda *qkv: jnp.sum(attention(*qkv) ** 2), (0, 1, 2)), (Q, Q, Q)),
    "pairs": (pairs, (normal(256, 8),)),
    "random numbers": (drawn, (0,)),
    "in a scan": (in_scan, (W, X[None], LABELS[None])),
}


def largest(jaxpr: Any) -> int:
    return max(piecewise.bytes_of(v) for eqn, _ in jaxprs.nested_equations(jaxpr) for v in eqn.outvars)


@pytest.mark.parametrize("case", CASES)
def test_it_computes_the_same(case: str) -> None:
    function, arguments = CASES[case]
    traced = jax.jit(function).trace(*arguments)
    size = largest(traced.jaxpr.jaxpr)
    changed = rematerialized.with_jaxpr(traced, lambda jaxpr: computed_in_pieces.in_pieces(jaxpr, size))
    made, whole = (one.lower().compile()(*arguments) for one in (changed, traced))
    for one, other in zip(jax.tree.leaves(made), jax.tree.leaves(whole), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert largest(changed.jaxpr.jaxpr) < size


def test_a_sum_of_16_bits_is_added_up_in_32() -> None:
    """Of 8 pieces of 129: bf16 has 8 bits, so that 258 + 129 would be 388 there, and all of them not 1032."""
    ones = jnp.ones((8 * 129, 1), jnp.bfloat16)

    def summed(x: Any) -> Any:
        return jax.lax.dot(jnp.exp(x * jnp.zeros(256, x.dtype)).T, x)

    traced = jax.jit(summed).trace(ones)
    changed = rematerialized.with_jaxpr(traced, lambda jaxpr: computed_in_pieces.in_pieces(jaxpr, largest(jaxpr)))
    made = changed.lower().compile()(ones)
    assert largest(changed.jaxpr.jaxpr) < largest(traced.jaxpr.jaxpr)
    assert np.asarray(made, np.float32).tolist() == [[float(jnp.bfloat16(8 * 129))]] * 256


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: jnp.tanh(x[:, None] * x), (normal(256),)),
        (lambda x: jnp.sum(jnp.tanh(x @ x) @ x), (normal(256, 256),)),
        (lambda x: jnp.sum(jnp.cumsum(jnp.cumsum(x[:, None] * x, 0), 1)), (normal(256),)),
        (lambda x: (lambda y: jnp.sum(y * jnp.sum(y)))(x[:, None] * x), (normal(256),)),
    ],
    ids=["a result", "a product of large values", "along every dimension", "reads its own sum"],
)
def test_what_cannot_be_made_in_pieces_is_left(function: Any, arguments: Any) -> None:
    traced = jax.jit(function).trace(*arguments)
    size = largest(traced.jaxpr.jaxpr)
    assert piecewise.found(traced.jaxpr.jaxpr, size) == []
    with pytest.raises(Unavailable, match="in pieces"):
        computed_in_pieces.in_pieces(traced.jaxpr.jaxpr, size)
