"""Train steps by shapes alone, whose best layouts a textbook tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Step = Callable[..., Any]


def shape(*sizes: int) -> jax.ShapeDtypeStruct:
    made: jax.ShapeDtypeStruct = jax.ShapeDtypeStruct(sizes, jnp.float32)
    return made


def adam(loss: Step) -> Step:
    """A step of Adam for a loss of parameters and a batch."""

    def step(params: Any, first: Any, second: Any, *batch: Any) -> Any:
        gradient = jax.grad(loss)(params, *batch)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)
        params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
        return params, first, second

    return step


def mlp_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((jax.nn.relu(x @ params["up"]) @ params["down"] - y) ** 2)


def moe_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    gates = jax.nn.softmax(x @ params["router"])
    hidden = jax.nn.relu(jnp.einsum("bd,edf->ebf", x, params["up"]))
    out = jnp.einsum("ebf,efd->ebd", hidden, params["down"])
    return jnp.mean((jnp.einsum("ebd,be->bd", out, gates) - y) ** 2)


def conv_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    for kernel in params["convs"]:
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x)
    return jnp.mean((x.mean((1, 2)) @ params["head"] - y) ** 2)


def mlp(width: int, hidden: int, batch: int) -> tuple[Step, tuple[Any, ...]]:
    params = {"up": shape(width, hidden), "down": shape(hidden, width)}
    return adam(mlp_loss), (params, params, params, shape(batch, width), shape(batch, width))


def moe(experts: int, width: int, hidden: int, batch: int) -> tuple[Step, tuple[Any, ...]]:
    up, down = shape(experts, width, hidden), shape(experts, hidden, width)
    params = {"router": shape(width, experts), "up": up, "down": down}
    return adam(moe_loss), (params, params, params, shape(batch, width), shape(batch, width))


def conv(size: int, batch: int) -> tuple[Step, tuple[Any, ...]]:
    params = {"convs": [shape(3, 3, 3, 64), shape(3, 3, 64, 128)], "head": shape(128, 1000)}
    return adam(conv_loss), (params, params, params, shape(batch, size, size, 3), shape(batch, 1000))
