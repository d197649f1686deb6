"""Runs of equal bodies as scans: the changed jaxpr computes what the jaxpr as written computes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.jax_private.scanned_bodies import StackedCall, stacked_call
from jaxstage_ext.core.repetition.repeated_bodies import repeated_bodies
from jaxstage_ext.core.repetition.scan_plan import scan_plan
from jaxstage_ext.report.unavailable import Unavailable

LAYERS = [
    {"up": jax.random.normal(key, (8, 16)) * 0.3, "down": jax.random.normal(key, (16, 8)) * 0.3}
    for key in jax.random.split(jax.random.key(0), 6)
]
X = jax.random.normal(jax.random.key(1), (4, 8))
STACKED = jax.tree.map(lambda *leaves: jnp.stack(leaves), *LAYERS)


def block(layer: Any, x: jax.Array) -> jax.Array:
    normed = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
    return x + jax.nn.gelu(normed @ layer["up"]) @ layer["down"]


def loop(layers: Any, x: jax.Array) -> jax.Array:
    for layer in layers:
        x = block(layer, x)
    return x.sum()


def step(layers: Any, x: jax.Array) -> Any:
    loss, grads = jax.value_and_grad(loop)(layers, x)
    return loss, jax.tree.map(lambda p, g: p - 0.1 * g, layers, grads)


def hands_out_everything(layers: Any, x: jax.Array) -> Any:
    seen = []
    for layer in layers:
        x = block(layer, x)
        seen.append(x.sum())
    return x, seen, seen[-1] + seen[0]


def slices(stacked: Any, x: jax.Array) -> jax.Array:
    for i in range(len(LAYERS)):
        x = block(jax.tree.map(lambda leaf: leaf[i], stacked), x)  # noqa: B023
    return x


def numbers(layers: Any, x: jax.Array) -> jax.Array:
    for i, layer in enumerate(layers):
        x = block(layer, x) * (1.0 + i)
    return x


def keys(layers: Any, x: jax.Array) -> jax.Array:
    key = jax.random.key(3)
    for layer in layers:
        key, own = jax.random.split(key)
        x = jnp.where(jax.random.bernoulli(own, 0.5, x.shape), block(layer, x), x)
    return x


def two_carried(layers: Any, x: jax.Array) -> Any:
    y = 2 * x
    for layer in layers:
        x, y = block(layer, x) + y, y - x
    return x, y


def stacked(function: Any, *args: Any) -> tuple[StackedCall, list[jax.Array], int]:
    """The call with scans, what it takes, and how many runs there are."""
    traced = jax.jit(function).trace(*args)
    runs = repeated_bodies(traced.jaxpr)
    made = stacked_call(traced, [scan_plan(run) for run in runs])
    arrays = jax.tree.leaves(args)
    given = [jnp.stack([arrays[i] for i in group]) if len(group) > 1 else arrays[group[0]] for group in made.taken]
    return made, given, len(runs)


def sums(results: Any) -> list[float]:
    """The same of arrays one by one as stacked."""
    arrays = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(results)]
    return [
        sum(array.size for array in arrays),
        sum(array.sum() for array in arrays),
        sum((array**2).sum() for array in arrays),
    ]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (loop, (LAYERS, X)),
        (jax.grad(loop, (0, 1)), (LAYERS, X)),
        (step, (LAYERS, X)),
        (hands_out_everything, (LAYERS, X)),
        (slices, (STACKED, X)),
        (jax.grad(lambda stacked, x: slices(stacked, x).sum()), (STACKED, X)),
        (numbers, (LAYERS, X)),
        (keys, (LAYERS, X)),
        (two_carried, (LAYERS, X)),
        (jax.jit(lambda layers, x: 2 * jax.jit(loop)(layers, x)), (LAYERS, X)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_scan_computes_the_same(function: Any, args: Any) -> None:
    made, given, runs = stacked(function, *args)
    jaxpr = jax.make_jaxpr(made.function)(*given)
    assert [eqn.primitive.name for eqn, _ in jaxprs.nested_equations(jaxpr)].count("scan") == runs
    np.testing.assert_allclose(sums(jax.jit(made.function)(*given)), sums(jax.jit(function)(*args)), rtol=1e-4)


def test_layers_are_taken_and_given_stacked_and_nothing_is_taken_apart() -> None:
    made, given, _ = stacked(step, LAYERS, X)
    assert sorted(map(len, made.taken)) == [1, len(LAYERS), len(LAYERS)]
    assert {argument.shape for argument in made.arguments} == {(6, 8, 16), (6, 16, 8), X.shape}
    assert sorted(result.shape for result in jax.eval_shape(made.function, *given)) == [(), (6, 8, 16), (6, 16, 8)]
    whole = jax.make_jaxpr(made.function)(*given)
    cut = [eqn.primitive.name for eqn, _ in jaxprs.nested_equations(whole)].count("slice")
    assert cut < 5 * len(LAYERS), "of some sixty values that the backward pass reads of each layer"


@pytest.mark.parametrize("axis", [0, 1])
def test_an_array_whose_slices_the_layers_read_in_order_is_not_cut_up(axis: int) -> None:
    def along(weights: jax.Array, x: jax.Array) -> jax.Array:
        for i in range(1, 6):
            x = jnp.tanh(x @ jnp.sin(jax.lax.index_in_dim(weights, i, axis, keepdims=False)))
        return x

    weights = jax.random.normal(jax.random.key(2), (8, 8, 8))
    made, given, _ = stacked(along, weights, X)
    names = [eqn.primitive.name for eqn, _ in jaxprs.nested_equations(jax.make_jaxpr(made.function)(*given))]
    assert (names.count("slice"), names.count("concatenate"), names.count("scan")) == (1, 0, 1)
    np.testing.assert_allclose(made.function(*given)[0], along(weights, X), rtol=1e-5)


def test_bodies_with_effects_are_left_alone() -> None:
    def prints(layers: Any, x: jax.Array) -> jax.Array:
        for layer in layers:
            x = block(layer, x)
            jax.debug.print("{}", x.sum())
        return x

    [run] = repeated_bodies(jax.make_jaxpr(prints)(LAYERS, X))
    with pytest.raises(Unavailable):
        scan_plan(run)


def test_bodies_that_slice_what_they_make_in_different_places_are_left_alone() -> None:
    def windows(layers: Any, x: jax.Array) -> jax.Array:
        for i, layer in enumerate(layers):
            x = block(layer, x)
            x = x + jnp.pad(x, ((0, 0), (0, 8)))[:, i : i + 8]
        return x

    [run, *_] = repeated_bodies(jax.make_jaxpr(windows)(LAYERS, X))
    with pytest.raises(Unavailable):
        scan_plan(run)


def test_a_loop_inside_a_checkpoint_is_left_alone() -> None:
    with pytest.raises(Unavailable):
        stacked(jax.checkpoint(loop), LAYERS, X)
