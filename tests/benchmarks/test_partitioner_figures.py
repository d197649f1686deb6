"""How many layouts of a train step the partitioner tries in a second, with the time of each."""

from __future__ import annotations

import statistics
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.core.jax_private.lowered_modules import module_bytecode
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec, ModuleLayout
from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedModule
from tests.benchmarks.table import row, seconds
from tests.helpers.layout_costs import LayoutCosts

pytestmark = pytest.mark.benchmark
LAYOUTS, LEAST = 32, 17.0
HOSTS = (0,) * 8


def shape(*sizes: int, dtype: Any = jnp.bfloat16) -> Any:
    return jax.ShapeDtypeStruct(sizes, dtype)


def loss(p: Any, tokens: Any, targets: Any) -> Any:
    x = p["embed"][tokens]
    for layer in p["layers"]:
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", x, layer["qkv"]), 2, 0)
        scores = jnp.einsum("bthk,bshk->bhts", q, k).astype(jnp.float32)
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
        x = x + jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(scores).astype(x.dtype), v, layer["out"])
        x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
    chosen = jax.nn.log_softmax((x @ p["head"]).astype(jnp.float32))
    return -jnp.mean(jnp.take_along_axis(chosen, targets[..., None], -1))


def adam(state: Any, tokens: Any, targets: Any) -> Any:
    p, m, v = state
    value, grads = jax.value_and_grad(loss)(p, tokens, targets)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(m.dtype), m, grads)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g.astype(v.dtype) ** 2, v, grads)
    p = jax.tree.map(lambda p, m, v: (p - 1e-3 * m / (jnp.sqrt(v) + 1e-8)).astype(p.dtype), p, m, v)
    return (p, m, v), value


def train_step() -> Any:
    layer = {"qkv": shape(512, 3, 8, 64), "out": shape(8, 64, 512), "up": shape(512, 2048), "down": shape(2048, 512)}
    p = {"embed": shape(4096, 512), "head": shape(512, 4096), "layers": [layer, layer]}
    moment = jax.tree.map(lambda leaf: shape(*leaf.shape, dtype=jnp.float32), p)
    tokens = shape(32, 64, dtype=jnp.int32)
    return jax.jit(adam).lower((p, moment, moment), tokens, tokens)


def test_layouts_a_second() -> None:
    partitioner = Partitioner(module_bytecode(train_step()))
    module = partitioner.module

    def spec(sizes: tuple[int, ...]) -> AxisSpec:
        if sizes == (32, 64):
            return (("data",), ())
        return tuple(("model",) if at == len(sizes) - 1 else () for at in range(len(sizes)))

    given = tuple(spec(module.values[value].shape) for value in module.arguments)
    layouts = [ModuleLayout({"data": 4, "model": 2}, given)] * LAYOUTS
    costs = LayoutCosts(module, "tpu", None)

    def tried() -> None:
        for answer in partitioner.partition(layouts):
            assert isinstance(answer, PartitionedModule)
            costs.work(answer, DeviceLinks(bandwidth=1e11, hosts=HOSTS))

    tried()
    rate = LAYOUTS / statistics.median(seconds(tried) for _ in range(3))
    row("layouts of a 2-layer step tried in a second", f"{rate:.0f}", "", f">= {LEAST:.0f}", rate >= LEAST)
