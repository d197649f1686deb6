"""Programs put together at random, the same for a seed: products, reductions, loops, branches, library calls."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

SIDE = 32


def _normed(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


def _repeated(x: Any) -> Any:
    return jax.lax.fori_loop(0, 5, lambda _, y: jnp.tanh(y @ x), x)


def _until_small(x: Any) -> Any:
    return jax.lax.while_loop(lambda y: jnp.abs(y).max() > 1, lambda y: 0.5 * (y @ x), x)


def _either(x: Any) -> Any:
    return jax.lax.cond(x.sum() > 0, lambda y: y @ y, jnp.sin, x)


def _solved(x: Any) -> Any:
    return jnp.linalg.solve(x @ x.T + SIDE * jnp.eye(SIDE), x)


STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x @ x.T,
    lambda x: x.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16),
    lambda x: jax.nn.softmax(x.astype(jnp.float32)),
    lambda x: jnp.where(x > 0, x, 0.1 * x),
    lambda x: jnp.sort(x, 0),
    lambda x: jnp.cumsum(x, 1),
    _normed,
    _repeated,
    _until_small,
    _either,
    _solved,
)


def program(seed: int) -> tuple[Callable[[Any], Any], tuple[Any, ...]]:
    """The function of a seed, with its argument."""
    chosen = random.Random(seed)
    steps = [chosen.choice(STEPS) for _ in range(4)]

    def generated(x: Any) -> Any:
        for step in steps:
            x = step(x).astype(jnp.float32)
        return x.sum(), x

    return (jax.grad(generated, has_aux=True) if _is_smooth(steps) and seed % 2 else generated), (jnp.eye(SIDE),)


def _is_smooth(steps: list[Callable[[Any], Any]]) -> bool:
    """Whether JAX differentiates it in reverse: it does not for loops whose length is not known."""
    return _until_small not in steps
