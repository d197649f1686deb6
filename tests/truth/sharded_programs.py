"""Programs on eight devices in which one operation, at a line of its own, makes the devices exchange data.

The line is marked `# cause`. Values before and after it are computed at lines of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from tests.truth.expectation import UserProgram


def shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def sharded(*arguments: Any, specs: tuple[Any, ...], result: Any = None) -> Callable[..., Callable[[], UserProgram]]:
    """The program of a function whose arguments, and result where given, are sharded over a mesh axis of eight."""
    options = {"mesh": {"x": 8}, "in_specs": specs} | ({} if result is None else {"out_specs": result})

    def of(function: Callable[..., Any]) -> Callable[[], UserProgram]:
        @functools.wraps(function)
        def program() -> UserProgram:
            return UserProgram(function, arguments, options)

        return program

    return of


@sharded(shape(256, 1024), shape(1024, 512), specs=(P(None, "x"), P("x", None)))
def contracting(x, w):
    x = jnp.sin(x)
    y = x @ w  # cause
    return jnp.tanh(y)


@sharded(shape(64, 128), specs=(P(None, "x"),))
def reshape_flat(x):
    y = jnp.sin(x)
    z = y.reshape(-1)  # cause
    return jnp.cos(z)


@sharded(shape(64, 128), specs=(P(None, "x"),))
def merge_dims(x):
    y = jnp.sin(x)
    z = y.reshape(8, 1024)  # cause
    return jax.lax.with_sharding_constraint(jnp.cos(z), P(None, None))


@sharded(shape(24, 128), specs=(P("x", None),))
def split_dims(x):
    y = jnp.sin(x)
    z = y.reshape(3, 8, 128)  # cause
    return jnp.cos(z)


@sharded(shape(128, 128), specs=(P("x", None),))
def transpose_add(x):
    y = jnp.sin(x)
    z = jnp.cos(y.T)
    return (y + z) * 2  # cause


@sharded(shape(1024, 16), specs=(P("x", None),))
def flip(x):
    y = jnp.sin(x)
    z = y[::-1]  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), specs=(P("x", None),))
def roll(x):
    y = jnp.sin(x)
    z = jnp.roll(y, 3, axis=0)  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), shape(1024, 16), specs=(P("x", None), P("x", None)))
def concatenate(x, w):
    a = jnp.sin(x)
    b = jnp.cos(w)
    z = jnp.concatenate([a, b], 0)  # cause
    return jnp.tanh(z)


@sharded(shape(16, 1024, dtype=jnp.complex64), specs=(P(None, "x"),))
def fft(x):
    y = x * 2
    z = jnp.fft.fft(y)  # cause
    return z + 1


@sharded(shape(16, 1024), specs=(P(None, "x"),))
def cumsum(x):
    y = jnp.sin(x)
    z = jnp.cumsum(y, axis=1)  # cause
    return jnp.cos(z)


@sharded(shape(16, 1024), specs=(P(None, "x"),))
def sort(x):
    y = jnp.sin(x)
    z = jnp.sort(y, axis=1)  # cause
    return jnp.cos(z)


@sharded(shape(16, 1024), specs=(P(None, "x"),))
def argmax(x):
    y = jnp.sin(x)
    z = jnp.argmax(y, axis=1)  # cause
    return z + 1


@sharded(shape(16, 1024), specs=(P(None, "x"),))
def top_k(x):
    y = jnp.sin(x)
    z, i = jax.lax.top_k(y, 4)  # cause
    return jnp.cos(z), i + 1


@sharded(shape(1024, 16), shape(dtype=jnp.int32), specs=(P("x", None), P()))
def dynamic_slice(x, i):
    y = jnp.sin(x)
    z = jax.lax.dynamic_slice(y, (i, 0), (128, 16))  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), shape(16, 16), shape(dtype=jnp.int32), specs=(P("x", None), P(), P()))
def dynamic_update(x, u, i):
    y = jnp.sin(x)
    z = jax.lax.dynamic_update_slice(y, u, (i, 0))  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), shape(32, dtype=jnp.int32), specs=(P("x", None), P()))
def take(x, i):
    y = jnp.sin(x)
    z = jnp.take(y, i, axis=0)  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), shape(32, dtype=jnp.int32), shape(32, 16), specs=(P(), P("x"), P("x", None)))
def scatter_add(x, i, u):
    v = jnp.sin(u)
    z = x.at[i].add(v)  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), specs=(P("x", None),))
def pad(x):
    y = jnp.sin(x)
    z = jnp.pad(y, ((5, 3), (0, 0)))  # cause
    return jnp.cos(z)


@sharded(shape(8, 128, 128, 4), shape(3, 3, 4, 8), specs=(P(None, "x"), P()))
def conv(x, w):
    y = jnp.sin(x)
    z = jax.lax.conv_general_dilated(y, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), specs=(P("x", None),))
def column_sums(x):
    y = jnp.sin(x)
    z = y.sum(0)  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), specs=(P("x", None),))
def column_maxima(x):
    y = jnp.sin(x)
    z = y.max(0)  # cause
    return jnp.cos(z)


@sharded(shape(1024, 16), specs=(P("x", None),))
def mean(x):
    y = jnp.sin(x)
    z = jnp.mean(y)  # cause
    return jnp.cos(z)


@sharded(shape(16, 1024), specs=(P(None, "x"),))
def softmax(x):
    y = jnp.sin(x)
    z = jax.nn.softmax(y, axis=-1)  # cause
    return jnp.cos(z)


@sharded(shape(128, 128), specs=(P("x", None),))
def constraint(x):
    y = jnp.sin(x)
    z = jax.lax.with_sharding_constraint(y, P(None, "x"))  # cause
    return jnp.cos(z)


@sharded(shape(128, 128), specs=(P("x", None),), result=P())
def gathered_result(x):
    y = jnp.sin(x)
    return jnp.cos(y)  # cause


@sharded(shape(1024, 64), shape(4, 32, dtype=jnp.int32), specs=(P("x", None), P()))
def embedding(table, ids):
    t = jnp.sin(table)
    z = t[ids]  # cause
    return jnp.cos(z)


@sharded(shape(128, 128), specs=(P("x", None),))
def cholesky(x):
    a = x * 2
    z = jnp.linalg.cholesky(a)  # cause
    return jnp.cos(z)


@sharded(shape(128, 128), shape(128, 16), specs=(P("x", None), P("x", None)))
def triangular_solve(a, b):
    y = jnp.sin(b)
    z = jax.scipy.linalg.solve_triangular(a, y, lower=True)  # cause
    return jnp.cos(z)


@sharded(shape(2, dtype=jnp.uint32), shape(1024, 16), specs=(P(), P("x", None)), result=P())
def random_normal(key, x):
    r = jax.random.normal(key, (1024, 16))
    y = jnp.sin(x)
    return y + r  # cause


@sharded(
    shape(
        128,
    ),
    shape(128, 128),
    specs=(P("x"), P("x", None)),
)
def broadcast_over_rows(v, x):
    y = jnp.sin(x)
    w = jnp.cos(v)
    z = y * w  # cause
    return jnp.tanh(z)


@sharded(shape(128, dtype=jnp.int32), shape(128, 16), specs=(P(), P("x", None)))
def one_hot(i, w):
    v = jnp.sin(w)
    h = jax.nn.one_hot(i, 128)
    z = h @ v  # cause
    return jnp.cos(z)


@sharded(shape(64, 128), shape(4, 128, 128), specs=(P(None, "x"), P(None, "x", None)))
def scan_body(x, ws):
    y = jnp.sin(x)

    def body(c, w):
        c = c + 1
        d = c @ w  # cause
        return jnp.tanh(d), None

    z, _ = jax.lax.scan(body, y, ws)
    return jnp.cos(z)


@sharded(shape(32, 64, 128), shape(128, 16), specs=(P(None, None, "x"), P("x", None)))
def einsum(x, w):
    y = jnp.sin(x)
    z = jnp.einsum("bsd,dh->bsh", y, w)  # cause
    return jnp.cos(z)


@sharded(shape(256, 128), shape(128, 128), specs=(P("x", None), P("x", None)))
def gathered_weight(x, w):
    a = jnp.sin(x)
    v = jnp.cos(w)
    z = a @ v  # cause
    return jnp.tanh(z)


@sharded(shape(1024, 16), specs=(P("x", None),))
def static_slice(x):
    y = jnp.sin(x)
    z = y[100:900]  # cause
    return jnp.cos(z)


@sharded(shape(128, 64), shape(16, 64), specs=(P("x", None), P()))
def concatenate_unsharded(x, w):
    y = jnp.sin(x)
    z = jnp.concatenate([y, w])  # cause
    return jnp.cos(z)


@sharded(shape(64, 128), specs=(P("x", None),))
def cummax(x):
    y = jnp.sin(x)
    z = jax.lax.cummax(y, axis=0)  # cause
    return jnp.cos(z)


@sharded(shape(64, 128), specs=(P("x", None),))
def tile(x):
    y = jnp.sin(x)
    z = jnp.tile(y, (2, 1))  # cause
    return jnp.cos(z)


@sharded(shape(64, 128, 128), specs=(P(None, "x"),))
def qr(x):
    y = jnp.sin(x)
    z = jnp.linalg.qr(y)[0]  # cause
    return jnp.cos(z)


@sharded(shape(128, 64), specs=(P("x", None),), result=P("x", None))
def transpose(x):
    y = jnp.sin(x)
    return y.T  # cause


@sharded(shape(64, 128, 128), specs=(P("x"),))
def scan_over_sharded(xs):
    ys = jnp.sin(xs)

    def body(carry, x):
        carry = carry + 1
        d = jnp.tanh(x)  # cause
        return carry @ d, None

    z, _ = jax.lax.scan(body, jnp.ones((128, 128)), ys)  # cause
    return jnp.cos(z)


@sharded(shape(64, 128), shape(64, 128), specs=(P(None, "x"), P("x", None)))
def add_otherwise_sharded(x, w):
    a = jnp.sin(x)
    b = jnp.cos(w)
    z = a + b  # cause
    return jnp.tanh(z)


@sharded(shape(1024, 16), specs=(P("x", None),))
def pooling(x):
    y = jnp.sin(x)
    z = jax.lax.reduce_window(y, 0.0, jax.lax.add, (3, 1), (1, 1), "SAME")  # cause
    return jnp.cos(z)


@sharded(shape(64, 128), shape(128, 64), shape(256, 64), specs=(P(), P(), P("x")))
def gradients(w, v, x):
    def loss(w, v):
        h = jnp.tanh(x @ w)  # cause
        return jnp.sum((h @ v) ** 2)  # cause

    return jax.grad(loss, (0, 1))(w, v)


@sharded(shape(64, 128), specs=(P("x", None),))
def two_sums(x):
    y = jnp.sin(x)
    a = y.sum(0)  # cause
    b = (y * y).sum(0)  # cause
    return jnp.cos(a), jnp.tanh(b)


@sharded(
    {"w": shape(512, 2048), "v": shape(2048, 512)},
    shape(256, 512),
    specs=({"w": P("x", None), "v": P("x", None)}, P("x")),
    result={"w": P("x", None), "v": P("x", None)},
)
def fully_sharded_step(weights, x):
    def loss(weights):
        h = jax.nn.relu(x @ weights["w"])  # cause
        y = h @ weights["v"]  # cause
        return jnp.mean(y**2)

    gradients = jax.grad(loss)(weights)
    return jax.tree.map(lambda old, gradient: old - 0.1 * gradient, weights, gradients)


@sharded(shape(64, 64, 16), specs=(P("x"),))
def heat_equation(u):
    def step(u, _):
        up = jnp.roll(u, 1, 0)  # cause
        down = jnp.roll(u, -1, 0)  # cause
        return 0.25 * (up + down), None

    return jax.lax.scan(step, u, None, length=5)[0]
