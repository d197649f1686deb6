"""A training step of a small transformer, as a user of JAX writes it: attention, layer norm, MLP, loss, Adam."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

WIDTH, HEADS, LAYERS, LENGTH, BATCH, VOCABULARY = 128, 4, 2, 64, 8, 512
Params = dict[str, Any]


def parameters(key: jax.Array) -> Params:
    """Fresh parameters."""
    keys = iter(jax.random.split(key, 2 + 4 * LAYERS))

    def matrix(*shape: int) -> jax.Array:
        return jax.random.normal(next(keys), shape) * shape[0] ** -0.5

    blocks = [
        {
            "qkv": matrix(WIDTH, 3 * WIDTH),
            "out": matrix(WIDTH, WIDTH),
            "up": matrix(WIDTH, 4 * WIDTH),
            "down": matrix(4 * WIDTH, WIDTH),
            "norm": jnp.ones((2, WIDTH)),
        }
        for _ in range(LAYERS)
    ]
    return {"embed": matrix(VOCABULARY, WIDTH), "head": matrix(WIDTH, VOCABULARY), "blocks": blocks}


def layer_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Root-mean-square norm of the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * scale


def attention(block: Params, x: jax.Array) -> jax.Array:
    """Causal self-attention."""
    q, k, v = jnp.split(x @ block["qkv"], 3, axis=-1)
    q, k, v = (t.reshape(*t.shape[:2], HEADS, -1) for t in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (WIDTH // HEADS) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return mixed.reshape(x.shape) @ block["out"]


def loss(params: Params, tokens: jax.Array) -> jax.Array:
    """Mean cross entropy of the next token."""
    x = params["embed"][tokens]
    for block in params["blocks"]:
        x = x + attention(block, layer_norm(x, block["norm"][0]))
        x = x + jax.nn.gelu(layer_norm(x, block["norm"][1]) @ block["up"]) @ block["down"]
    scores = jax.nn.log_softmax(x @ params["head"])
    picked = jnp.take_along_axis(scores[:, :-1], tokens[:, 1:, None], axis=-1)
    return -picked.mean()


@jax.jit
def step(params: Params, moments: tuple[Params, Params], tokens: jax.Array) -> tuple[Params, tuple[Params, Params]]:
    """One step of Adam."""
    gradient = jax.grad(loss)(params, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, moments[1], gradient)
    params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, (first, second)


def inputs() -> tuple[Params, tuple[Params, Params], jax.Array]:
    """Arguments of `step`."""
    params = parameters(jax.random.key(0))
    zeros = jax.tree.map(jnp.zeros_like, params)
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, VOCABULARY)
    return params, (zeros, zeros), tokens
