"""Forty programs as users write them, of many sizes, whose predicted times are compared with measured ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class TimedProgram(NamedTuple):
    """A function with its arguments."""

    name: str
    fn: Callable[..., Any]
    arguments: tuple[Any, ...]


def programs() -> list[TimedProgram]:
    """All of them."""
    return [*_products(), *_elementwise(), *_reductions(), *_moves(), *_layers(), *_steps(), *_loops()]


def _normal(*shape: int, dtype: Any = jnp.float32, seed: int = 0) -> Any:
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32).astype(dtype)


def _products() -> Iterator[TimedProgram]:
    for size in (128, 384, 768):
        yield TimedProgram(f"product {size}", jnp.matmul, (_normal(size, size), _normal(size, size)))
    yield TimedProgram("product bf16", jnp.matmul, (_normal(640, 640, dtype=jnp.bfloat16),) * 2)
    yield TimedProgram("tall product", jnp.matmul, (_normal(4096, 64), _normal(64, 256)))
    yield TimedProgram("matrix and vector", jnp.matmul, (_normal(2000, 2000), _normal(2000)))
    yield TimedProgram("batched product", jnp.matmul, (_normal(32, 128, 128), _normal(32, 128, 128)))
    yield TimedProgram("transposed product", lambda x, y: x.T @ y, (_normal(700, 500), _normal(700, 300)))


def _elementwise() -> Iterator[TimedProgram]:
    yield TimedProgram("add, small", jnp.add, (_normal(1000), _normal(1000)))
    yield TimedProgram("add, in cache", jnp.add, (_normal(1 << 18), _normal(1 << 18)))
    yield TimedProgram("add, large", jnp.add, (_normal(1 << 21), _normal(1 << 21)))
    yield TimedProgram("polynomial", lambda x: ((x * 2 + 1) * x - 3) * x + 5, (_normal(1 << 20),))
    for name in ("tanh", "exp", "sin", "log1p"):
        yield TimedProgram(name, getattr(jnp, name), (jnp.abs(_normal(1 << 19)),))
    yield TimedProgram("gelu", jax.nn.gelu, (_normal(1024, 512),))
    yield TimedProgram("where", lambda x: jnp.where(x > 0, x, 0.1 * x), (_normal(1 << 20),))


def _reductions() -> Iterator[TimedProgram]:
    yield TimedProgram("sum", jnp.sum, (_normal(1 << 20),))
    yield TimedProgram("sum of rows", lambda x: x.sum(1), (_normal(2048, 512),))
    yield TimedProgram("sum of columns", lambda x: x.sum(0), (_normal(2048, 512),))
    yield TimedProgram("variance", jnp.var, (_normal(1 << 20),))
    yield TimedProgram("softmax", jax.nn.softmax, (_normal(1024, 512),))
    yield TimedProgram("logsumexp", jax.nn.logsumexp, (_normal(1 << 21),))
    yield TimedProgram("argmax", lambda x: x.argmax(1), (_normal(1024, 512),))


def _moves() -> Iterator[TimedProgram]:
    yield TimedProgram("transpose", lambda x: x.T + 0, (_normal(1024, 1024),))
    yield TimedProgram("concatenate", lambda x, y: jnp.concatenate([x, y], 1), (_normal(1024, 512),) * 2)
    yield TimedProgram("reverse", lambda x: x[::-1], (_normal(1 << 20),))
    rows = jax.random.randint(jax.random.key(1), (8192,), 0, 32768)
    yield TimedProgram("gather", lambda x, at: x[at], (_normal(32768, 128), rows))
    yield TimedProgram("pad", lambda x: jnp.pad(x, 8), (_normal(1024, 1024),))


def _norm(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


def _attention(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8) @ v


def _layers() -> Iterator[TimedProgram]:
    yield TimedProgram("layer norm", _norm, (_normal(1024, 512),))
    yield TimedProgram("attention", _attention, tuple(_normal(2, 8, 256, 64, seed=seed) for seed in range(3)))
    yield TimedProgram("MLP", _mlp, (_weights(256, 1024), _normal(256, 256)))
    yield TimedProgram("narrow MLP", _mlp, (_weights(32, 32), _normal(64, 32)))


def _weights(inner: int, outer: int) -> list[Any]:
    return [_normal(inner, outer) / 16, _normal(outer, inner) / 16] * 2


def _mlp(weights: list[Any], x: Any) -> Any:
    for weight in weights:
        x = jnp.tanh(x @ weight)
    return x


def _loss(weights: list[Any], x: Any) -> Any:
    return (_mlp(weights, x) ** 2).mean()


def _step(weights: list[Any], x: Any) -> Any:
    return jax.tree.map(lambda weight, by: weight - 0.1 * by, weights, jax.grad(_loss)(weights, x))


def _steps() -> Iterator[TimedProgram]:
    yield TimedProgram("MLP step", _step, (_weights(256, 1024), _normal(256, 256)))
    yield TimedProgram("narrow MLP step", _step, (_weights(64, 128), _normal(128, 64)))
    yield TimedProgram("gradient of attention", jax.grad(lambda q, k, v: _attention(q, k, v).sum()), _heads())


def _heads() -> tuple[Any, ...]:
    return tuple(_normal(1, 8, 256, 64, seed=seed) for seed in range(3))


def _loops() -> Iterator[TimedProgram]:
    def cell(carry: Any, x: Any) -> tuple[Any, Any]:
        made = jnp.tanh(carry @ x)
        return made, made.sum()

    yield TimedProgram("scan", lambda x, xs: jax.lax.scan(cell, x, xs), (_normal(64, 128), _normal(32, 128, 128) / 12))
    yield TimedProgram("cumulative sum", lambda x: jnp.cumsum(x, 1), (_normal(512, 512),))
    yield TimedProgram("fori", lambda x: jax.lax.fori_loop(0, 50, lambda _, y: y * 0.5 + 1, x), (_normal(1 << 16),))
