"""Random layouts of several models: each sharding that the partitioner gives is that of XLA's own dump."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from test_partitioner_and_xla import compiled, unequal

from jaxstage_ext.analysis.sharding.dimensions import dimension_classes
from jaxstage_ext.core.jax_private.lowered_modules import module_bytecode
from jaxstage_ext.core.layout.partitioner import Partitioner


def shape(*sizes: int) -> Any:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def experts(p: Any, x: Any) -> Any:
    gates = jax.nn.softmax(x @ p["gate"])
    hidden = jax.nn.relu(jnp.einsum("bm,emf->bef", x, p["up"]))
    return jnp.einsum("bef,efm,be->bm", hidden, p["down"], gates).sum()


def scanned(p: Any, x: Any) -> Any:
    return jax.lax.scan(lambda x, w: (x + jnp.tanh(x @ w[0]) @ w[1], None), x, p)[0].sum()


def convolved(p: Any, x: Any) -> Any:
    for kernel in p:
        numbers = ("NHWC", "HWIO", "NHWC")
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers))
    return x.mean()


def attended(p: Any, x: Any) -> Any:
    q, k, v = (jnp.einsum("btm,mhd->bthd", x, p[name]) for name in "qkv")
    scores = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k))
    return jnp.einsum("bhts,bshd,hdm->btm", scores, v, p["o"]).sum()


MODELS = {
    "experts": (experts, ({"gate": shape(8, 4), "up": shape(4, 8, 16), "down": shape(4, 16, 8)}, shape(8, 8))),
    "scan": (scanned, ((shape(4, 8, 16), shape(4, 16, 8)), shape(8, 8))),
    "convolutions": (convolved, ([shape(3, 3, 4, 8), shape(3, 3, 8, 8)], shape(8, 8, 8, 4))),
    "attention": (attended, ({**dict.fromkeys("qkv", shape(8, 4, 4)), "o": shape(4, 4, 8)}, shape(8, 4, 8))),
}


@pytest.mark.seldom("XLA compiles each layout")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", MODELS)
def test_random_layouts(model: str, seed: int, tmp_path: Path) -> None:
    loss, arguments = MODELS[model]
    function = jax.value_and_grad(loss)
    module = Partitioner(module_bytecode(jax.jit(function, keep_unused=True).lower(*arguments))).module
    specs = _random_specs(module, random.Random(f"{model} {seed}"))
    mesh = jax.make_mesh((2, 2), ("d", "m"), axis_types=(AxisType.Auto,) * 2)
    leaves, tree = jax.tree.flatten(arguments)
    placed = [
        jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=NamedSharding(mesh, P(*spec)))
        for leaf, spec in zip(leaves, specs, strict=True)
    ]
    lowered = jax.jit(function, keep_unused=True).lower(*jax.tree.unflatten(tree, placed))
    compiled(lowered, tmp_path)
    matched, different = unequal(lowered, tmp_path)
    assert matched > 10
    assert different == []


def _random_specs(module: Any, chance: random.Random) -> list[list[str | None]]:
    """For each axis two classes that it splits, in each argument the first of them that stands there."""
    specs: list[list[Any]] = [[None] * len(module.values[value].shape) for value in module.arguments]
    for axis in ("d", "m"):
        for each in chance.sample(dimension_classes(module), 2):
            for argument, at in each.arguments:
                free = axis not in specs[argument] and specs[argument][at] is None
                if free and module.values[module.arguments[argument]].shape[at] % 2 == 0:
                    specs[argument][at] = axis
    return specs
