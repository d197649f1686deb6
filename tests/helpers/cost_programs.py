"""Programs whose work XLA counts rightly: what ours is held against, on three backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tests.benchmarks.model import step

LENGTH = 12


def shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def products(a, b, c):
    return jnp.einsum("bij,bjk->bik", a, b) @ c


def convolutions(x, w, v):
    y = jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.lax.conv_general_dilated(y, v, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def elementwise(x, y):
    return jnp.where(x > y, x * y + 3.0, jnp.maximum(x, 0.0) - y)


def reductions(x):
    return x.sum(), x.max(0), jnp.prod(x, 1)


def block(x, w, v):
    """A ResNet block, without its normalisation's running means."""

    def conv(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def normed(x):
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - mean) * jax.lax.rsqrt(var + 1e-5)

    hidden = jax.nn.relu(normed(conv(x, w)))
    return jax.nn.relu(x + normed(conv(hidden, v)))


def block_gradient(x, w, v):
    return jax.grad(lambda w, v: block(x, w, v).sum(), (0, 1))(w, v)


def layers(x, w):
    return jax.lax.scan(lambda x, w: (jnp.maximum(x @ w, 0.0), None), x, w)[0]


def transformer() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    function, arguments = step(1)
    return function, jax.tree.map(lambda x: shape(*x.shape, dtype=x.dtype), arguments)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "products": (products, (shape(4, 128, 256), shape(4, 256, 128), shape(128, 512))),
    "convolutions": (convolutions, (shape(8, 32, 32, 64), shape(3, 3, 64, 128), shape(3, 3, 128, 64))),
    "elementwise": (elementwise, (shape(512, 512), shape(512, 512))),
    "reductions": (reductions, (shape(512, 1024),)),
    "ResNet block": (block, (shape(4, 16, 16, 64), shape(3, 3, 64, 64), shape(3, 3, 64, 64))),
    "its gradient": (block_gradient, (shape(4, 16, 16, 64), shape(3, 3, 64, 64), shape(3, 3, 64, 64))),
    "scan": (layers, (shape(64, 128), shape(LENGTH, 128, 128))),
    "transformer step": transformer(),
}
