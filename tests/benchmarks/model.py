"""A transformer train step: `step(n)` gives the function and its arguments for n unrolled layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

WIDTH, HEADS, WORDS = 64, 4, 128


def parameters(layers: int) -> dict[str, Any]:
    def weight(rows: int, columns: int) -> jax.Array:
        return jnp.full((rows, columns), 0.02, jnp.float32)

    def layer() -> dict[str, jax.Array]:
        return {
            "qkv": weight(WIDTH, 3 * WIDTH),
            "out": weight(WIDTH, WIDTH),
            "up": weight(WIDTH, 4 * WIDTH),
            "down": weight(4 * WIDTH, WIDTH),
            "gain1": jnp.ones(WIDTH),
            "gain2": jnp.ones(WIDTH),
        }

    return {"embed": weight(WORDS, WIDTH), "layers": [layer() for _ in range(layers)], "logits": weight(WIDTH, WORDS)}


def norm(x, gain):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6) * gain


def attention(p, x):
    batch, time, width = x.shape
    q, k, v = (
        z.reshape(batch, time, HEADS, width // HEADS).transpose(0, 2, 1, 3) for z in jnp.split(x @ p["qkv"], 3, -1)
    )
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(width // HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    return mixed.transpose(0, 2, 1, 3).reshape(batch, time, width) @ p["out"]


def forward(p, words):
    x = p["embed"][words]
    for number, layer in enumerate(p["layers"]):
        with jax.named_scope(f"layer{number}"):
            x = x + attention(layer, norm(x, layer["gain1"]))
            x = x + jax.nn.gelu(norm(x, layer["gain2"]) @ layer["up"]) @ layer["down"]
    return x @ p["logits"]


def loss(p, words):
    predicted = jax.nn.log_softmax(forward(p, words[:, :-1]))
    return -jnp.mean(jnp.take_along_axis(predicted, words[:, 1:, None], -1))


def adam(p, g, m, v):
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
    return jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v), m, v


def step(layers: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A new function each time, so that nothing of an earlier one is cached, and its arguments."""

    def train_step(p, m, v, words):
        value, gradient = jax.value_and_grad(loss)(p, words)
        return value, *adam(p, gradient, m, v)

    p = parameters(layers)
    zeros = jax.tree.map(jnp.zeros_like, p)
    return train_step, (p, zeros, zeros, jnp.zeros((2, 33), jnp.int32))
