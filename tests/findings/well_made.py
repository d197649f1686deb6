"""Programs that are made as their libraries' authors advise: donated state, no captured arrays, one program a step.

Each is a function that gives (function, arguments, options of `inspect`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

Made = tuple[Any, tuple[Any, ...], dict[str, Any]]
_BF16 = jnp.bfloat16


def _normal(*shape: int, dtype: Any = jnp.float32) -> Any:
    return jnp.asarray(np.random.default_rng(0).standard_normal(shape) * 0.02, dtype)


def _mlp_params(width: int, depth: int, dtype: Any = jnp.float32) -> Any:
    return [{"w": _normal(width, width, dtype=dtype), "b": jnp.zeros(width, dtype)} for _ in range(depth)]


def _mlp(params: Any, x: Any) -> Any:
    for layer in params:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x


def sgd_step() -> Made:
    @partial(jax.jit, donate_argnames="params")
    def step(params: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((_mlp(p, x) - y) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss

    return step, (_mlp_params(256, 3), _normal(64, 256), _normal(64, 256)), {}


def adamw_step() -> Made:
    import optax

    tx, params = optax.adamw(1e-3), _mlp_params(256, 3)

    @partial(jax.jit, donate_argnames=("params", "state"))
    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((_mlp(p, x) - y) ** 2))(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    return step, (params, tx.init(params), _normal(64, 256), _normal(64, 256)), {}


def linen_step() -> Made:
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.gelu(nn.Dense(512)(x))
            return nn.Dense(10)(nn.LayerNorm()(x))

    net, tx = Net(), optax.adam(1e-3)
    x, y = _normal(128, 256), jnp.zeros(128, jnp.int32)
    params = net.init(jax.random.key(0), x)

    @partial(jax.jit, donate_argnums=(0, 1))
    def train_step(params: Any, opt_state: Any, x: Any, y: Any) -> Any:
        def loss_fn(p: Any) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(net.apply(p, x), y).mean()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step, (params, tx.init(params), x, y), {}


def nnx_forward() -> Made:
    from flax import nnx

    net = nnx.Sequential(nnx.Linear(256, 512, rngs=nnx.Rngs(0)), nnx.relu, nnx.Linear(512, 10, rngs=nnx.Rngs(1)))
    graph, state = nnx.split(net)

    @jax.jit
    def forward(state: Any, x: Any) -> Any:
        return nnx.merge(graph, state)(x)

    return forward, (state, _normal(64, 256)), {}


def equinox_step() -> Made:
    import equinox as eqx

    net = eqx.nn.MLP(128, 128, 256, 2, key=jax.random.key(0))
    arrays, static = eqx.partition(net, eqx.is_array)

    @partial(jax.jit, donate_argnums=0)
    def step(arrays: Any, x: Any) -> Any:
        grads = jax.grad(lambda a: jnp.mean(jax.vmap(eqx.combine(a, static))(x) ** 2))(arrays)
        return jax.tree.map(lambda p, g: p - 0.1 * g, arrays, grads)

    return step, (arrays, _normal(64, 128)), {}


def inverse_and_order_that_are_results() -> Made:
    """The inverse itself, and all of the order, are returned: neither solving nor top_k gives them."""

    def summary(covariance: Any, x: Any) -> Any:
        precision = jnp.linalg.inv(covariance)
        return precision, precision @ x[:400], jnp.argsort(x), jax.lax.top_k(x, 8)

    return summary, (jnp.eye(400) + 0.1, _normal(70_000)), {}


def diffrax_solve() -> Made:
    import diffrax

    def solve(y0: Any, k: Any) -> Any:
        term = diffrax.ODETerm(lambda t, y, k: -k * y)
        done = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.01, y0, args=k, throw=False)
        return done.ys

    return solve, (_normal(1024), jnp.float32(0.5)), {}


def kalman_scan() -> Made:
    def kalman(a: Any, ys: Any) -> Any:
        def body(carry: Any, y: Any) -> Any:
            mean, cov = carry
            mean, cov = a @ mean, a @ cov @ a.T + jnp.eye(16)
            gain = jnp.linalg.solve(cov + jnp.eye(16), cov).T
            mean = mean + gain @ (y - mean)
            return (mean, cov - gain @ cov), mean

        return jax.lax.scan(body, (jnp.zeros(16), jnp.eye(16)), ys)[1]

    return kalman, (_normal(16, 16), _normal(100, 16)), {}


def rk4_loop() -> Made:
    @partial(jax.jit, donate_argnums=0)
    def run(y: Any) -> Any:
        def step(i: Any, y: Any) -> Any:
            k1 = jnp.sin(y)
            k2 = jnp.sin(y + 0.005 * k1)
            return y + 0.01 * k2

        return jax.lax.fori_loop(0, 100, step, y)

    return run, (_normal(65536),), {}


def bf16_matmuls() -> Made:
    def forward(ws: Any, x: Any) -> Any:
        for w in ws:
            x = jax.nn.relu(jnp.dot(x, w, preferred_element_type=jnp.float32)).astype(_BF16)
        return x

    return forward, ([_normal(1024, 1024, dtype=_BF16)] * 3, _normal(1024, 1024, dtype=_BF16)), {}


def _block(p: Any, x: Any) -> Any:
    heads, size = 4, x.shape[-1] // 4
    h = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
    q, k, v = (jnp.reshape(h @ p[name], (*h.shape[:2], heads, size)) for name in "qkv")
    out = jax.nn.dot_product_attention(q, k, v)
    x = x + jnp.reshape(out, h.shape) @ p["o"]
    return x + jax.nn.gelu(x @ p["up"]) @ p["down"]


def _block_params(width: int, layers: int) -> Any:
    shapes = {**{name: (width, width) for name in "qkvo"}, "up": (width, 4 * width), "down": (4 * width, width)}
    return {name: _normal(layers, *shape) for name, shape in shapes.items()}


def scanned_transformer() -> Made:
    @partial(jax.jit, donate_argnums=0)
    def step(params: Any, x: Any) -> Any:
        def loss(p: Any) -> Any:
            body = jax.checkpoint(lambda h, layer: (_block(layer, h), None))
            return jnp.mean(jax.lax.scan(body, x, p)[0] ** 2)

        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))

    return step, (_block_params(128, 4), _normal(4, 64, 128)), {}


def transformer_forward() -> Made:
    def forward(params: Any, x: Any) -> Any:
        return jax.lax.scan(lambda h, layer: (_block(layer, h), None), x, params)[0]

    return forward, (_block_params(128, 4), _normal(4, 64, 128)), {}


def conv_forward() -> Made:
    def forward(k1: Any, k2: Any, x: Any) -> Any:
        conv = partial(
            jax.lax.conv_general_dilated,
            window_strides=(1, 1),
            padding="SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        return conv(jax.nn.relu(conv(x, k1)), k2).mean((1, 2))

    return forward, (_normal(3, 3, 32, 64), _normal(3, 3, 64, 64), _normal(8, 32, 32, 32)), {}


def decode_step() -> Made:
    @partial(jax.jit, donate_argnames="cache")
    def decode(cache: Any, w: Any, token: Any, at: Any) -> Any:
        key = token @ w
        cache = jax.lax.dynamic_update_slice(cache, key[:, None], (0, at, 0))
        scores = jax.nn.softmax(jnp.einsum("bd,btd->bt", key, cache))
        return cache, jnp.einsum("bt,btd->bd", scores, cache)

    return decode, (jnp.zeros((8, 512, 128)), _normal(128, 128), _normal(8, 128), jnp.int32(3)), {}


def embedding_lookup() -> Made:
    def lookup(table: Any, ids: Any) -> Any:
        return jnp.take(table, ids, axis=0).mean(1)

    return lookup, (_normal(8192, 128), jnp.zeros((64, 32), jnp.int32)), {}


def fft_filter() -> Made:
    def smooth(x: Any) -> Any:
        spectrum = jnp.fft.rfft(x)
        return jnp.fft.irfft(spectrum * jnp.exp(-jnp.arange(spectrum.shape[-1]) / 100.0))

    return smooth, (_normal(64, 4096),), {}


def monte_carlo() -> Made:
    def price(key: Any, s0: Any) -> Any:
        z = jax.random.normal(key, (65536,))
        return jnp.mean(jnp.maximum(s0 * jnp.exp(0.2 * z - 0.02) - 1.0, 0.0))

    return price, (jax.random.key(0), jnp.float32(1.0)), {}


def two_keys() -> Made:
    def noise(key: Any) -> Any:
        one, other = jax.random.split(key)
        return jax.random.normal(one, (4096,)) + jax.random.uniform(other, (4096,))

    return noise, (jax.random.key(0),), {}


def newton() -> Made:
    def solve(a: Any, b: Any) -> Any:
        def body(x: Any) -> Any:
            return x - 0.1 * (a @ x - b)

        return jax.lax.while_loop(lambda x: jnp.sum((a @ x - b) ** 2) > 1e-6, body, jnp.zeros_like(b))

    return solve, (jnp.eye(256) + _normal(256, 256), _normal(256)), {}


def _mesh(*shape: int, names: tuple[str, ...]) -> Any:
    return jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))


def sharded_state() -> Made:
    """Fully sharded data parallel: parameters lie in parts over the data axis, gathered where they are used."""
    mesh = _mesh(4, names=("data",))
    params = jax.device_put(_mlp_params(256, 2), NamedSharding(mesh, P("data")))
    x = jax.device_put(_normal(512, 256), NamedSharding(mesh, P("data")))

    @partial(jax.jit, donate_argnums=0, out_shardings=NamedSharding(mesh, P("data")))
    def step(params: Any, x: Any) -> Any:
        grads = jax.grad(lambda p: jnp.mean(_mlp(p, x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return step, (params, x), {}


def sharded_elementwise() -> Made:
    mesh = _mesh(4, names=("data",))
    x = jax.device_put(_normal(8192, 64), NamedSharding(mesh, P("data")))
    return jax.jit(lambda x: jnp.tanh(x) * 2), (x,), {}


def reduced_loss() -> Made:
    """Two axes of a mesh, tensor parallel: column then row, one all-reduce of the activations, as Megatron has it."""
    mesh = _mesh(2, 2, names=("data", "model"))
    x = jax.device_put(_normal(256, 512), NamedSharding(mesh, P("data")))
    up = jax.device_put(_normal(512, 2048), NamedSharding(mesh, P(None, "model")))
    down = jax.device_put(_normal(2048, 512), NamedSharding(mesh, P("model", None)))
    return jax.jit(lambda x, up, down: jax.nn.relu(x @ up) @ down), (x, up, down), {}


def sharded_ring_attention() -> Made:
    """Keys and values go round the devices of a sequence; dropout has a key of each device's own."""
    mesh = _mesh(4, names=("sp",))

    def ring(key: Any, q: Any, k: Any, v: Any) -> Any:
        on = [(at, (at + 1) % 4) for at in range(4)]
        own = jax.random.fold_in(key, jax.lax.axis_index("sp"))

        def step(carry: Any, _: Any) -> Any:
            out, total, k, v = carry
            p = jnp.exp(q @ k.T / 8)
            return (out + p @ v, total + p.sum(-1), *jax.lax.ppermute((k, v), "sp", on)), None

        (out, total, _, _), _ = jax.lax.scan(step, (jnp.zeros_like(q), q[:, 0] * 0, k, v), None, length=4)
        return jnp.where(jax.random.bernoulli(own, 0.9, out.shape), out / total[:, None], 0.0)

    mapped = jax.jit(jax.shard_map(ring, mesh=mesh, in_specs=(P(), *[P("sp")] * 3), out_specs=P("sp")))
    rows = jax.device_put([_normal(512, 64) for _ in range(3)], NamedSharding(mesh, P("sp")))
    return mapped, (jax.random.key(0), *rows), {}


def sharded_gradient_sums() -> Made:
    """Gradients of several batches, summed for the caller to apply: no new values of the parameters."""
    mesh = _mesh(4, names=("data",))
    params = jax.device_put(_mlp_params(512, 2), NamedSharding(mesh, P()))
    batches = jax.device_put(_normal(4, 64, 512), NamedSharding(mesh, P(None, "data")))

    def accumulate(params: Any, batches: Any) -> Any:
        def add(total: Any, x: Any) -> Any:
            return jax.tree.map(jnp.add, total, jax.grad(lambda p: jnp.mean(_mlp(p, x) ** 2))(params)), None

        return jax.lax.scan(add, jax.tree.map(jnp.zeros_like, params), batches)[0]

    return jax.jit(accumulate), (params, batches), {}


PROGRAMS: tuple[Callable[[], Made], ...] = (
    sgd_step,
    adamw_step,
    linen_step,
    nnx_forward,
    equinox_step,
    inverse_and_order_that_are_results,
    diffrax_solve,
    kalman_scan,
    rk4_loop,
    bf16_matmuls,
    scanned_transformer,
    transformer_forward,
    conv_forward,
    decode_step,
    embedding_lookup,
    fft_filter,
    monte_carlo,
    two_keys,
    newton,
    sharded_state,
    sharded_elementwise,
    sharded_ring_attention,
    sharded_gradient_sums,
    reduced_loss,
)
