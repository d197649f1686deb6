"""The programs whose stages are kept as golden files. `PROGRAMS` maps a name to (function, arguments)."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.sharding import AxisType, PartitionSpec

f32 = functools.partial(jnp.ones, dtype=jnp.float32)


def small(w, x):
    return jnp.sum(jax.nn.softmax(jnp.tanh(x @ w)))


def helper(x):
    return jnp.where(x > 0, x, 0.1 * x)


def spread_out(x, y):
    with jax.named_scope("first"):
        a = jnp.dot(
            helper(x),
            jnp.sin(y),
        )
    with jax.named_scope("second"):
        return helper(a) + 1


def norm(x, gain):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6) * gain


def transformer_layer(p, x):
    b, t, d = x.shape
    q, k, v = jnp.split(norm(x, p["g1"]) @ p["qkv"], 3, -1)
    q, k, v = (z.reshape(b, t, 4, d // 4).transpose(0, 2, 1, 3) for z in (q, k, v))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(d // 4)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    x = x + mixed.transpose(0, 2, 1, 3).reshape(b, t, d) @ p["o"]
    return x + jax.nn.gelu(norm(x, p["g2"]) @ p["w1"]) @ p["w2"]


def transformer_gradient(p, x):
    return jax.grad(lambda p: jnp.mean(transformer_layer(p, x) ** 2))(p)


def scan(w, xs):
    def body(carry, x):
        carry = jnp.tanh(carry @ w + x)
        return carry, carry.sum()

    return jax.lax.scan(body, f32(8), xs)


def while_loop(x):
    def unfinished(state):
        return state[0] < 5

    def body(state):
        return state[0] + 1, state[1] * 1.5

    return jax.lax.while_loop(unfinished, body, (0, x))[1]


def cond(flag, x):
    def double(x):
        return x * 2

    def half(x):
        return jnp.sin(x) / 2

    return jax.lax.cond(flag, double, half, x)


def conv(image, kernel):
    out = jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME")
    return jax.nn.relu(out).mean((2, 3))


@functools.partial(jax.pmap, axis_name="i")
def pmap(x):
    return x / jax.lax.psum(x, "i")


def shard_map(x):
    mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
    spec = PartitionSpec("d")

    def local(block):
        return jax.lax.all_gather(block * 2, "d", tiled=True).sum(0, keepdims=True)

    return jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=spec)(x)


@jax.custom_vjp
def clipped(x):
    return x**2


def clipped_forward(x):
    return clipped(x), x


def clipped_backward(x, g):
    return (jnp.clip(2 * x * g, -1, 1),)


clipped.defvjp(clipped_forward, clipped_backward)


def custom_vjp(x):
    return jax.grad(lambda x: jnp.sum(clipped(x)))(x)


def pallas(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x, y)


def callback(x):
    jax.debug.print("x {}", x)
    return jax.pure_callback(np.sort, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


D = 32
LAYER = {
    "g1": f32(D),
    "g2": f32(D),
    "qkv": f32((D, 3 * D)),
    "o": f32((D, D)),
    "w1": f32((D, 4 * D)),
    "w2": f32((4 * D, D)),
}

PROGRAMS = {
    "small": (small, (f32((128, 512)), f32((8, 128)))),
    "spread_out": (spread_out, (f32((8, 8)), f32((8, 8)))),
    "transformer_gradient": (transformer_gradient, (LAYER, f32((2, 16, D)))),
    "scan": (scan, (f32((8, 8)), f32((10, 8)))),
    "while_loop": (while_loop, (f32(4),)),
    "cond": (cond, (True, f32(4))),
    "conv": (conv, (f32((1, 3, 8, 8)), f32((4, 3, 3, 3)))),
    "pmap": (pmap, (f32((4, 3)),)),
    "shard_map": (shard_map, (f32((8, 3)),)),
    "custom_vjp": (custom_vjp, (f32(4),)),
    "pallas": (pallas, (f32((8, 128)), f32((8, 128)))),
    "callback": (callback, (f32(4),)),
}
