"""Which inputs a result is an update of, and which it only has the shape of."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.findings.memory.updated_inputs import updates

X, W, AT = jnp.ones((8, 8)), jnp.ones((8, 8)), jnp.int32(1)


def in_place(x: Any, i: Any) -> Any:
    return x.at[i].set(0.0), x.sum()


def appended(x: Any, row: Any, i: Any) -> Any:
    return jax.lax.dynamic_update_slice(x, row, (i, 0))


def looped(x: Any, w: Any) -> Any:
    return jax.lax.fori_loop(0, 3, lambda i, x: jnp.sin(x @ w), x)


def until(x: Any, w: Any) -> Any:
    return jax.lax.while_loop(lambda x: x.sum() < 9, lambda x: x @ w, x)


def jitted(x: Any, i: Any) -> Any:
    return jax.jit(in_place)(x, i)[0]


def trained(w: Any, x: Any) -> Any:
    return w - 0.1 * jax.grad(lambda w: jnp.sum((x @ w) ** 2))(w)


def heated(x: Any) -> Any:
    return x + 0.1 * (jnp.roll(x, 1, 0) - x)


def block(x: Any, w: Any) -> Any:
    return x + jax.nn.gelu(x @ w)


def layers(x: Any, ws: Any) -> Any:
    return jax.lax.scan(lambda h, w: (h @ w, None), x, ws)[0]


def weighted(x: Any, w: Any) -> Any:
    return x + w * x


def mapped(x: Any) -> Any:
    return jnp.tanh(x)


@pytest.mark.parametrize(
    ("fn", "arguments", "found"),
    [
        (in_place, (X, AT), {0}),
        (appended, (X, X[:1], AT), {0}),
        (looped, (X, W), {0}),
        (until, (X, W), {0}),
        (jitted, (X, AT), {0}),
        (trained, (W, X), {0}),
        (heated, (X,), {0}),
        (block, (X, W), set()),
        (layers, (X, W[None]), set()),
        (weighted, (X, W), set()),
        (mapped, (X,), set()),
    ],
)
def test_a_result_that_only_has_the_shape_of_an_input_is_no_update(fn: Any, arguments: Any, found: set[int]) -> None:
    assert updates(jax.make_jaxpr(fn)(*arguments).jaxpr) == found
