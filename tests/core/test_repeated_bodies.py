"""Runs of equal bodies in a jaxpr. The counts are those of the loops below, counted by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.core.jax_private.jaxprs import count_equations
from jaxstage_ext.core.repetition.repeated_bodies import RepeatedBody, repeated_bodies

X = jnp.ones((4, 8))
LAYERS = [{"up": jnp.ones((8, 16)), "down": jnp.ones((16, 8))} for _ in range(12)]


def block(layer: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    normed = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
    return x + jax.nn.gelu(normed @ layer["up"]) @ layer["down"]


def loop(layers: list[dict[str, jax.Array]], x: jax.Array) -> jax.Array:
    for layer in layers:  # the loop
        x = block(layer, x)
    return x.sum()


def line_in(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def found(function: Callable[..., Any], *args: Any) -> list[RepeatedBody]:
    return repeated_bodies(jax.make_jaxpr(function)(*args))


def test_the_layers_of_a_loop() -> None:
    (only,) = found(loop, LAYERS, X)
    assert (only.count, only.is_loop) == (12, True)
    assert only.line is not None
    assert only.line.line == line_in(loop, "# the loop")
    assert only.line.function == "loop"
    assert only.reads == (1, 2, 0)  # x; the layer's own up and down
    assert only.length * 12 == len(only.jaxpr.eqns) - 1, "all but the sum"


def test_its_derivative_repeats_forward_and_backward() -> None:
    derivative = jax.grad(loop, (0, 1))
    runs = found(derivative, LAYERS, X)
    assert [run.count for run in runs[:2]] == [12, 12]
    assert {run.line and run.line.line for run in runs[:2]} == {line_in(loop, "# the loop")}
    whole = count_equations(jax.make_jaxpr(derivative)(LAYERS, X))
    assert 0.9 * whole < sum(run.equations for run in runs) <= whole


def test_the_first_layer_has_no_derivative_of_its_input_where_nobody_asks_for_it() -> None:
    assert [run.count for run in found(jax.grad(loop), LAYERS, X)[:2]] == [11, 11]


def test_layers_of_different_widths_are_not_equal() -> None:
    layers = [{"up": jnp.ones((8, 16 + i)), "down": jnp.ones((16 + i, 8))} for i in range(12)]
    assert found(loop, layers, X) == []


def test_a_layer_that_reads_the_one_before_the_last_is_not_equal_to_the_first() -> None:
    def skips(layers: list[dict[str, jax.Array]], x: jax.Array) -> jax.Array:
        before = x
        for layer in layers:
            before, x = x, block(layer, x) * before
        return x

    def alone(layers: list[dict[str, jax.Array]], x: jax.Array) -> jax.Array:
        first = x
        for layer in layers:
            x = block(layer, x) * first
        return x

    assert found(skips, LAYERS, X) == []
    assert [(run.count, run.reads) for run in found(alone, LAYERS, X)] == [(12, (1, 2, 1))]


def test_what_scan_holds_once_is_not_repeated() -> None:
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *LAYERS)
    assert (
        found(lambda layers, x: jax.lax.scan(lambda x, layer: (block(layer, x), None), x, layers)[0], stacked, X) == []
    )


def test_two_layers_are_too_few() -> None:
    assert found(loop, LAYERS[:2], X) == []


def test_a_slice_of_stacked_parameters_and_a_number_of_its_own() -> None:
    def scaled(weights: jax.Array, x: jax.Array) -> jax.Array:
        for i in range(6):  # the loop
            x = jnp.sin(x @ weights[i]) * (0.5 + i) + jnp.cos(x)
        return x

    (only,) = found(scaled, jnp.ones((6, 8, 8)), X)
    assert only.count == 6
    assert only.line is not None
    assert only.line.line == line_in(scaled, "# the loop")


def test_layers_under_jit_remat_and_in_a_jit_of_the_whole() -> None:
    for wrap in (jax.jit, jax.checkpoint):
        wrapped: Any = wrap(block)

        def inside(layers: list[dict[str, jax.Array]], x: jax.Array, wrapped: Any = wrapped) -> jax.Array:
            for layer in layers:  # the loop
                x = wrapped(layer, x)
            return x

        (only,) = found(jax.jit(inside), LAYERS, X)
        assert (only.count, only.length) == (12, 1)
        assert only.line is not None
        assert only.line.line == line_in(inside, "# the loop")


def test_callbacks_to_different_functions_are_not_equal() -> None:
    def calls(same: bool, x: jax.Array) -> jax.Array:
        def host(value: Any) -> Any:
            return value

        for _ in range(4):
            own = host if same else (lambda value: value)
            x = jnp.sin(jax.pure_callback(own, x, x) + 1) * jnp.cos(x)
        return x

    assert [run.count for run in found(lambda x: calls(True, x), X)] == [4]
    assert found(lambda x: calls(False, x), X) == []


def test_a_comprehension_and_a_function_mapped_over_a_tree() -> None:
    def listed(layers: list[dict[str, jax.Array]], x: jax.Array) -> list[jax.Array]:
        return [block(layer, x) for layer in layers]

    def mapped(layers: list[dict[str, jax.Array]]) -> Any:
        return jax.tree.map(lambda w: w - 0.1 * jnp.sin(w) + 0.01 * jnp.cos(w), [layer["up"] for layer in layers])

    (only,) = found(listed, LAYERS, X)
    assert (only.count, only.is_loop, only.reads) == (12, True, (0, 2, 1))
    (only,) = found(mapped, LAYERS)
    assert (only.count, only.is_loop) == (12, False)
    assert only.line is not None
    assert only.line.line == line_in(mapped, "jax.tree.map")


def test_lines_written_out_begin_with_the_first() -> None:
    def written(layers: list[dict[str, jax.Array]], x: jax.Array) -> jax.Array:
        x = block(layers[0], x)  # the first
        x = block(layers[1], x)
        return block(layers[2], x)

    (only,) = found(written, LAYERS, X)
    assert (only.count, only.is_loop) == (3, False)
    assert only.line is not None
    assert only.line.line == line_in(written, "# the first")


def test_layers_of_flax() -> None:
    linen = pytest.importorskip("flax.linen")

    class Block(linen.Module):  # type: ignore[misc, name-defined, unused-ignore]
        @linen.compact  # type: ignore[untyped-decorator, unused-ignore]
        def __call__(self, x: Any) -> Any:
            x = x + linen.MultiHeadDotProductAttention(num_heads=2)(linen.LayerNorm()(x))
            return x + linen.Dense(8)(linen.gelu(linen.Dense(16)(linen.LayerNorm()(x))))

    class Model(linen.Module):  # type: ignore[misc, name-defined, unused-ignore]
        @linen.compact  # type: ignore[untyped-decorator, unused-ignore]
        def __call__(self, x: Any) -> Any:
            for _ in range(12):  # the loop
                x = Block()(x)
            return x

    model, x = Model(), jnp.ones((2, 4, 8))
    params = model.init(jax.random.key(0), x)
    run = found(model.apply, params, x)[0]
    assert (run.count, run.is_loop) == (12, True)
    assert run.line is not None
    assert run.line.line == line_in(Model, "# the loop")
