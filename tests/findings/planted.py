"""Programs as users write them, each with one thing that costs it most, and what that is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext.findings.finding_kind import FindingKind


class Planted(NamedTuple):
    """A call, what is wrong with it, and the target that it is inspected for."""

    fn: Any
    arguments: tuple[Any, ...]
    kind: FindingKind
    target: str = "local"


def _normal(*shape: int, dtype: Any = jnp.float32) -> Any:
    return jnp.asarray(np.random.default_rng(0).standard_normal(shape) * 0.02, dtype)


def _shape(*shape: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


def equinox_without_donation() -> Planted:
    import equinox as eqx
    import optax

    net, tx = eqx.nn.MLP(256, 256, 1024, 2, key=jax.random.key(0)), optax.adam(1e-3)

    @eqx.filter_jit
    def make_step(net: Any, state: Any, x: Any) -> Any:
        grads = eqx.filter_grad(lambda n: jnp.mean(jax.vmap(n)(x) ** 2))(net)
        updates, state = tx.update(grads, state, net)
        return eqx.apply_updates(net, updates), state

    state = tx.init(eqx.filter(net, eqx.is_array))
    return Planted(make_step, (net, state, _normal(64, 256)), FindingKind.MISSING_DONATION)


def table_in_a_closure() -> Planted:
    table = np.random.default_rng(0).random((200_000, 32), np.float32)
    return Planted(
        lambda ids: jnp.asarray(table)[ids].sum(-1), (jnp.zeros(64, jnp.int32),), FindingKind.CAPTURED_CONSTANT
    )


def shifted_history() -> Planted:
    def push(history: Any, x: Any) -> Any:
        oldest = history[0]
        history = jnp.concatenate([history[1:], x[None]])
        return history, oldest

    def run(history: Any, xs: Any) -> Any:
        return jax.lax.scan(push, history, xs)

    return Planted(run, (_normal(200_000), _normal(64)), FindingKind.CARRY_COPY)


def overlapping_update() -> Planted:
    def pop(queue: Any, at: Any) -> Any:
        head = jax.lax.dynamic_slice(queue, (at + 1,), (64,))
        return jax.lax.dynamic_update_slice(queue, head, (at,)), head[0]

    def drain(queue: Any, places: Any) -> Any:
        return jax.lax.scan(pop, queue, places)

    return Planted(drain, (_normal(500_000), jnp.arange(50)), FindingKind.CARRY_COPY)


def wide_positions() -> Planted:
    positions = np.sin(np.arange(128 * 256, dtype=np.float32).reshape(128, 256))

    def embed(w: Any, x: Any) -> Any:
        h = x + positions
        return jax.nn.gelu(h @ w) @ w.T

    args = (_normal(256, 1024, dtype=jnp.bfloat16), _normal(32, 128, 256, dtype=jnp.bfloat16))
    return Planted(embed, args, FindingKind.PROMOTION)


def replicated_adam() -> Planted:
    mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))
    whole, parts = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    params = jax.device_put({"up": _normal(512, 2048), "down": _normal(2048, 512)}, whole)
    moments = jax.device_put(jax.tree.map(jnp.zeros_like, params), whole)

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(params: Any, m: Any, v: Any, x: Any) -> Any:
        grads = jax.grad(lambda p: jnp.mean((jax.nn.relu(x @ p["up"]) @ p["down"]) ** 2))(params)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, grads)
        params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, m, v)
        return params, m, v

    batch = jax.device_put(_normal(64, 512), parts)
    return Planted(step, (params, moments, jax.tree.map(jnp.copy, moments), batch), FindingKind.REPLICATED_STATE)


def layers_in_a_python_loop() -> Planted:
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for _ in range(60):
                x = x + nn.Dense(64)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(x))))
            return x.mean()

    net, x = Net(), _normal(8, 64)
    params = net.init(jax.random.key(0), x)
    return Planted(jax.grad(net.apply), (params, x), FindingKind.UNROLLED_LOOP)


def cond_of_each_row() -> Planted:
    def row(x: Any) -> Any:
        return jax.lax.cond(x[0] > 0, lambda x: jnp.linalg.matrix_power(jnp.outer(x, x), 16)[0], lambda x: x, x)

    return Planted(jax.vmap(row), (_normal(32, 48),), FindingKind.BOTH_BRANCHES)


def gather_along_an_axis() -> Planted:
    def pick(x: Any, at: Any) -> Any:
        return jnp.take_along_axis(x, at, 1)

    shapes = _shape(16_384, 1, 128, 128), _shape(16_384, 1, 128, 128, dtype=jnp.int32)
    return Planted(pick, shapes, FindingKind.INDEX_ARRAY, "v5e:1x1")


def callback_in_a_scan() -> Planted:
    def score(x: Any) -> Any:
        return np.asarray(x) * 2

    def body(x: Any, _: Any) -> Any:
        return jax.pure_callback(score, jax.ShapeDtypeStruct(x.shape, x.dtype), x), None

    return Planted(lambda x: jax.lax.scan(body, x, None, length=500)[0], (_normal(1024),), FindingKind.HOST_TRANSFER)


def donated_as_another_dtype() -> Planted:
    @partial(jax.jit, donate_argnums=0)
    def cast(state: Any, x: Any) -> Any:
        return (state * 0.9 + x).astype(jnp.bfloat16)

    return Planted(cast, (_normal(1024, 1024), _normal(1024, 1024)), FindingKind.UNUSED_DONATION)


def checkpoint_around_everything() -> Planted:
    def loss(params: Any, x: Any) -> Any:
        @jax.checkpoint
        def forward(params: Any, x: Any) -> Any:
            for w in params:
                x = jnp.tanh(x @ w)
            return jnp.mean(x**2)

        return forward(params, x)

    return Planted(
        jax.value_and_grad(loss), ([_normal(256, 256)] * 4, _normal(2048, 256)), FindingKind.USELESS_CHECKPOINT
    )


def long_scan_with_residuals() -> Planted:
    def loss(w: Any, x: Any) -> Any:
        def body(h: Any, _: Any) -> Any:
            return jnp.tanh(jnp.sin(h @ w) * jnp.cos(h)), None

        return jnp.sum(jax.lax.scan(body, x, None, length=200)[0])

    return Planted(jax.grad(loss), (_normal(64, 64), _normal(512, 64)), FindingKind.RESIDUALS)


def same_key_twice() -> Planted:
    def sample(key: Any) -> Any:
        return jax.random.normal(key, (1024,)) + jax.random.uniform(key, (1024,))

    return Planted(sample, (jax.random.key(0),), FindingKind.REUSED_KEY)


def pairs_by_einsum() -> Planted:
    return Planted(
        lambda a, b: jnp.einsum("nxyc,mxyc->nmxy", a, b),
        (jnp.ones((100, 20, 20, 3)), jnp.ones((200, 20, 20, 3))),
        FindingKind.LAYOUT_COPY,
    )


def same_factor_in_every_step() -> Planted:
    """XLA moves a product out of a loop by itself, and no factorisation."""

    def run(a: Any, xs: Any) -> Any:
        def body(total: Any, x: Any) -> Any:
            factor = jnp.linalg.cholesky(a @ a.T + jnp.eye(256))
            return total + jax.scipy.linalg.solve_triangular(factor, x, lower=True), None

        return jax.lax.scan(body, xs[0], xs)[0]

    return Planted(run, (_shape(256, 256), _shape(100, 256)), FindingKind.REPEATED_WORK, "h100")


def products_of_widened_values() -> Planted:
    def forward(w: Any, x: Any) -> Any:
        return x.astype(jnp.float32) @ w.astype(jnp.float32)

    shapes = _shape(4096, 4096, dtype=jnp.bfloat16), _shape(4096, 4096, dtype=jnp.bfloat16)
    return Planted(forward, shapes, FindingKind.EXCESS_PRECISION, "h100")


def contraction_over_the_batch_axis() -> Planted:
    """The weight lies in parts over the axis of the batch, whole rows of which every device needs."""
    mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))
    x = jax.device_put(_normal(64, 1024), NamedSharding(mesh, P("data")))
    w = jax.device_put(_normal(1024, 4096), NamedSharding(mesh, P("data")))
    return Planted(jax.jit(lambda w, x: jax.nn.relu(x @ w)), (w, x), FindingKind.COLLECTIVE)


def resharded_in_the_middle() -> Planted:
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    one, other = NamedSharding(mesh, P("y", None, "x")), NamedSharding(mesh, P(None, ("x", "y"), None))

    def mix(a: Any, c: Any) -> Any:
        return c + jax.lax.with_sharding_constraint(a * 2, other)

    arguments = jax.device_put(_normal(16, 64, 256), one), jax.device_put(_normal(16, 64, 256), other)
    return Planted(mix, arguments, FindingKind.FULL_REMATERIALISATION)


def summed_by_segment() -> Planted:
    def pool(x: Any, at: Any) -> Any:
        return jax.ops.segment_sum(x, at, 1024)

    return Planted(pool, (_shape(65_536, 64), _shape(65_536, dtype=jnp.int32)), FindingKind.NONDETERMINISTIC, "h100")


def many_small_kernels() -> Planted:
    def run(x: Any) -> Any:
        def body(i: Any, x: Any) -> Any:
            x = jnp.linalg.qr(x)[0]
            return jnp.sort(jnp.cumsum(x, 0), 0) / 8

        return jax.lax.fori_loop(0, 500, body, x)

    return Planted(run, (_shape(16, 16),), FindingKind.SMALL_KERNELS, "h100")


def folded_table() -> Planted:
    table = np.random.default_rng(0).random((200_000, 32), np.float32)

    def rows(x: Any) -> Any:
        return x + jnp.sum(jnp.pad(jnp.asarray(table), ((1, 1), (0, 0)))[::2], 1)

    return Planted(rows, (_normal(100_001),), FindingKind.SLOW_PASS)


def nodes_that_python_flattens() -> Planted:
    @jax.tree_util.register_pytree_node_class
    class Cell:
        def __init__(self, v: Any) -> None:
            self.v = v

        def tree_flatten(self) -> Any:
            return (self.v,), None

        @classmethod
        def tree_unflatten(cls, _: Any, children: Any) -> Any:
            return cls(*children)

    cells = {f"p{at}": Cell(jnp.float32(at)) for at in range(2000)}
    step = jax.jit(lambda cells, x: x + cells["p0"].v + cells["p1999"].v)
    return Planted(step, (cells, _normal(64)), FindingKind.PYTHON_CALL)


def rope_of_all_positions() -> Planted:
    """33.5 MB, of which the 64 rows of 512 B that this length has are read."""

    def rotate(rope: Any, x: Any) -> Any:
        return x * rope[: x.shape[1]]

    return Planted(rotate, (_normal(65_536, 128), _normal(4, 64, 128)), FindingKind.UNREAD_ARGUMENT)


def embedding_by_one_hot() -> Planted:
    def lookup(table: Any, ids: Any) -> Any:
        return jax.nn.one_hot(ids, table.shape[0], dtype=table.dtype) @ table

    return Planted(lookup, (_normal(8192, 64), jnp.zeros((8, 128), jnp.int32)), FindingKind.INDEX_ARRAY)


def largest_of_a_sorted_array() -> Planted:
    """Of 200,000 sorted elements eight are read: jax.lax.top_k."""
    return Planted(lambda x: jnp.argsort(x)[-8:], (_normal(200_000),), FindingKind.CHEAPER_FORM)


def history_in_a_loop_under_vmap() -> Planted:
    def solve(a: Any) -> Any:
        def step(state: Any) -> Any:
            x, seen, i = state
            return 0.5 * (x + a / x), seen.at[i].set(x), i + 1

        return jax.lax.while_loop(lambda s: jnp.abs(s[0] ** 2 - a) > 1e-5, step, (a, jnp.zeros(512), 0))

    return Planted(jax.vmap(solve), (_shape(1024),), FindingKind.BATCHED_LOOP)


def one_mask_for_all_devices() -> Planted:
    mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))

    def layer(key: Any, w: Any, x: Any) -> Any:
        h = jax.nn.relu(x @ w)
        return jnp.where(jax.random.bernoulli(key, 0.9, h.shape), h / 0.9, 0.0)

    mapped = jax.shard_map(layer, mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=P("data"))
    return Planted(jax.jit(mapped), (jax.random.key(0), _normal(64, 64), _normal(256, 64)), FindingKind.REUSED_KEY)


def batch_on_every_device() -> Planted:
    whole = NamedSharding(jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,)), P())

    def loss(w: Any, x: Any) -> Any:
        return jnp.mean(jax.nn.relu(x @ w) ** 2)

    arguments = jax.device_put((_normal(512, 512), _normal(4096, 512)), whole)
    return Planted(jax.grad(loss), arguments, FindingKind.EXTRA_FLOPS)


PROGRAMS: tuple[Callable[[], Planted], ...] = (
    equinox_without_donation,
    table_in_a_closure,
    shifted_history,
    overlapping_update,
    wide_positions,
    replicated_adam,
    layers_in_a_python_loop,
    cond_of_each_row,
    gather_along_an_axis,
    callback_in_a_scan,
    donated_as_another_dtype,
    checkpoint_around_everything,
    long_scan_with_residuals,
    same_key_twice,
    pairs_by_einsum,
    same_factor_in_every_step,
    products_of_widened_values,
    contraction_over_the_batch_axis,
    resharded_in_the_middle,
    summed_by_segment,
    many_small_kernels,
    folded_table,
    nodes_that_python_flattens,
    rope_of_all_positions,
    embedding_by_one_hot,
    largest_of_a_sorted_array,
    history_in_a_loop_under_vmap,
    one_mask_for_all_devices,
    batch_on_every_device,
)
