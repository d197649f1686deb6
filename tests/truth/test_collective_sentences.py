"""Sentences about collectives that hold for each device, and causes that put the most bytes first."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from tests.truth.expectation import Expectation, UserProgram, holds, rows


def _mesh() -> Any:
    return jax.make_mesh((4,), ("i",), axis_types=(AxisType.Auto,))


def conv_gradient() -> UserProgram:
    """XLA combines the sum of the loss, 4 B, with that of the weight's gradient, 18,432 B."""

    def loss(k: jax.Array, x: jax.Array) -> jax.Array:
        y = lax.conv(x, k, (1, 1), "SAME")
        return jnp.mean(jax.nn.relu(y) ** 2)

    k, x = jax.ShapeDtypeStruct((32, 16, 3, 3), jnp.float32), jax.ShapeDtypeStruct((64, 16, 32, 32), jnp.float32)
    return UserProgram(jax.value_and_grad(loss), (k, x), {"mesh": {"d": 8}, "in_specs": (P(), P("d"))})


def gathered_weight() -> UserProgram:
    x, w = jax.ShapeDtypeStruct((64, 128), jnp.float32), jax.ShapeDtypeStruct((128, 256), jnp.float32)
    options = {"mesh": {"d": 2}, "in_specs": (P("d", None), P("d", None))}
    return UserProgram(lambda x, w: x @ w, (x, w), options)


def two_permutations() -> UserProgram:
    """Device 0 sends 512 B to device 1, and device 1 as much to device 2; two devices send nothing."""

    def f(x: jax.Array) -> jax.Array:
        return lax.ppermute(lax.ppermute(x, "i", [(0, 1)]) * 2, "i", [(1, 2)])

    return UserProgram(jax.shard_map(f, mesh=_mesh(), in_specs=P("i"), out_specs=P("i")), (jnp.ones((4, 128)),))


def two_rings() -> UserProgram:
    ring = [(i, (i + 1) % 4) for i in range(4)]

    def f(x: jax.Array) -> jax.Array:
        return lax.ppermute(jnp.sin(lax.ppermute(x, "i", ring)), "i", ring)

    return UserProgram(jax.shard_map(f, mesh=_mesh(), in_specs=P("i"), out_specs=P("i")), (jnp.ones((4, 128)),))


def gradient_of_a_replicated_scale() -> UserProgram:
    """The program calls no collective: the transpose of the replicated argument is a psum."""

    def loss(scale: jax.Array, x: jax.Array) -> jax.Array:
        scaled = jax.shard_map(lambda s, x: jnp.tanh(x * s), mesh=_mesh(), in_specs=(P(), P("i")), out_specs=P("i"))
        return jnp.sum(scaled(scale, x))

    return UserProgram(jax.grad(loss), (jnp.ones(128), jnp.ones((4, 128))))


def gradient_of_an_all_gather() -> UserProgram:
    """The program calls all_gather, whose transpose is a reduce_scatter."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        product = jax.shard_map(
            lambda w, x: jnp.tanh(x @ lax.all_gather(w, "i", tiled=True)), mesh=_mesh(), in_specs=(P("i"), P("i")),
            out_specs=P("i"),
        )  # fmt: skip
        return jnp.sum(product(w, x))

    return UserProgram(jax.grad(loss), (jnp.ones((128, 64)), jnp.ones((4, 128))))


def headline(inspection: Any) -> str:
    return str(inspection.collectives.headline)


def causes(inspection: Any) -> str:
    return "; ".join(f"{row['collective']}: {row['cause']}" for row in inspection.collectives.table.rows())


def used_as(inspection: Any) -> str:
    [row] = inspection.collectives.table.rows()
    return f"{row['from']} to {row['to']}"


COMBINED = "by hand: 18,432 B of the weight, 4 B of the loss"
NOBODY_WROTE = "the program does not call it"


@rows(
    Expectation(conv_gradient, "cpu:8", "cause", headline, "(partial sums of conv_general_dilated)", COMBINED),
    Expectation(conv_gradient, "h100:8", "cause", headline, "(partial sums of conv_general_dilated)", COMBINED),
    Expectation(conv_gradient, "v5e:2x4", "cause", headline, "(partial sums of conv_general_dilated)", COMBINED),
    Expectation(
        gathered_weight, "cpu:2", "use", used_as, "P('d', None) to P(None, None) with P('d', None)",
        "each device's rows of x meet all of w",
    ),
    Expectation(
        two_permutations, "local", "sent", headline, "the device that sends most sends 512 B", "by hand: 4 * 128 B",
        ("each device",),
    ),
    Expectation(two_rings, "local", "sent", headline, "each device sends 1.02 kB", "by hand: 2 * 4 * 128 B"),
    Expectation(
        gradient_of_a_replicated_scale, "local", "cause", causes, "psum of the backward pass", NOBODY_WROTE,
        ("written",),
    ),
    Expectation(
        gradient_of_an_all_gather, "local", "cause", causes, "reduce_scatter of the backward pass", NOBODY_WROTE,
        ("written as reduce_scatter",),
    ),
    Expectation(
        gradient_of_an_all_gather, "local", "written", causes, "written as all_gather", "the program calls it"
    ),
)  # fmt: skip
def test_what_is_said_of_collectives_holds(expectation: Expectation) -> None:
    holds(expectation)
