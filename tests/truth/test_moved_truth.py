"""Bytes that move, and those that do not: workspaces, views, constants, slices of stacked weights, prefetches."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.truth.expectation import Expectation, UserProgram, header, holds, rows

BF16 = jnp.bfloat16
W = 4096
HBM, MATRIX = 819e9, 197e12
"""A TPU v5e's bytes and bf16 FLOPs a second, by its datasheet."""


def c64_product() -> UserProgram:
    """cuBLAS takes 4 MiB of scratch memory for it, which XLA gives it as a second result."""
    a, b = jax.ShapeDtypeStruct((256, 128), jnp.complex64), jax.ShapeDtypeStruct((128, 64), jnp.complex64)
    return UserProgram(lambda a, b: a @ b, (a, b))


def convolution() -> UserProgram:
    """As c64_product, by cuDNN."""
    x, k = jax.ShapeDtypeStruct((8, 16, 32, 32), jnp.float32), jax.ShapeDtypeStruct((16, 16, 3, 3), jnp.float32)
    return UserProgram(lambda x, k: lax.conv(x, k, (1, 1), "SAME"), (x, k))


def prefetched_weights() -> UserProgram:
    """libtpu copies w1 to the chip before the program, and w3 during the first product."""
    x, w = jax.ShapeDtypeStruct((512, W), BF16), jax.ShapeDtypeStruct((W, W), BF16)

    def f(x: jax.Array, w1: jax.Array, w2: jax.Array, w3: jax.Array) -> jax.Array:
        h = jnp.tanh(x @ w1)
        return (h[:8] @ w2) @ w3

    return UserProgram(f, (x, w, w, w))


def int8_product() -> UserProgram:
    s8 = jax.ShapeDtypeStruct((W, W), jnp.int8)
    return UserProgram(lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), (s8, s8))


def stacked_weights() -> UserProgram:
    """A scan over stacked weights, of which libtpu slices the layer's in a fusion within the product's."""
    p, x = jax.ShapeDtypeStruct((8, 2048, 2048), BF16), jax.ShapeDtypeStruct((256, 2048), BF16)
    return UserProgram(lambda p, x: lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, p)[0], (p, x))


def update_step() -> UserProgram:
    """libtpu joins slices of a weight in memory by a ConcatBitcast."""

    def step(p: list[jax.Array], x: jax.Array) -> list[jax.Array]:
        def loss(p: list[jax.Array]) -> jax.Array:
            return jnp.mean((jnp.tanh(x @ p[0]) @ p[1]) ** 2)

        return jax.tree.map(lambda w, d: w - d * 1e-3, p, jax.grad(loss)(p))

    w, x = jax.ShapeDtypeStruct((512, 512), jnp.float32), jax.ShapeDtypeStruct((128, 512), jnp.float32)
    return UserProgram(step, ([w, w], x))


TABLE = np.random.default_rng(0).standard_normal((4000, 256)).astype(np.float32)


def sum_over_a_captured_table() -> UserProgram:
    """XLA:CPU gives the whole reduction, constant and all, to a library."""
    return UserProgram(lambda x: jnp.sum(TABLE * x[:, None], 1), (jax.ShapeDtypeStruct((4000,), jnp.float32),))


def greatest_of_a_captured_table() -> UserProgram:
    return UserProgram(lambda x: jnp.max(TABLE * x, 0), (jax.ShapeDtypeStruct((256,), jnp.float32),))


def calls_move(inspection: Any) -> float:
    work = inspection.cost.work
    calls = np.intersect1d(work.shown, work.ops.rows(b"custom-call"))
    return float((work.moved * work.runs)[calls].sum())


def total(inspection: Any) -> float:
    return float(inspection.cost.roofline.total)


def bound(inspection: Any) -> str:
    return str(inspection.cost.roofline.bounded_by)


def moved(inspection: Any) -> float:
    return float(inspection.cost.work.bytes_range.counted)


def needed(inspection: Any) -> int:
    return int(inspection.memory.fit.needed)


def at_peak(inspection: Any) -> int:
    return int(inspection.memory.space().peak)


def by_xla(inspection: Any) -> float:
    """Bytes of XLA's cost analysis, over ours."""
    return float(inspection.compiled.cost_analysis()["bytes accessed"]) / moved(inspection)


PRODUCT = 2 * 512 * W * W / MATRIX
WEIGHT = 2 * W * W / HBM
LAYERS = 8 * 2 * 256 * 2048 * 2048 / MATRIX


@rows(
    Expectation(
        c64_product, "h100", "moved", calls_move, 8 * (256 * 128 + 128 * 64 + 256 * 64), "operands and result by hand"
    ),
    Expectation(
        convolution, "h100", "moved", calls_move, 4 * (2 * 8 * 16 * 32 * 32 + 16 * 16 * 9), "operands and result",
    ),
    Expectation(
        prefetched_weights, "v5e:2x2", "total", total, PRODUCT + WEIGHT,
        "the product by its FLOPs, w2 by its bytes; w1 comes before the program and w3 during the product", close=0.01,
    ),
    Expectation(prefetched_weights, "v5e:2x2", "bound", bound, "compute", "the product takes 87 of 128 us"),
    Expectation(
        int8_product, "v5e:2x2", "total", total, 2 * W**3 / 393e12, "FLOPs by the datasheet's 393 TOPS", close=0.01
    ),
    Expectation(
        stacked_weights, "v5e:2x2", "total", total, LAYERS, "each of 8 layers is read once: 82 us, FLOPs take 87 us",
        close=0.05,
    ),
    Expectation(stacked_weights, "v5e:2x2", "bound", bound, "compute", "512 FLOPs for each byte of the weights"),
    Expectation(update_step, "v5e:2x2", "views", calls_move, 0.0, "a bitcast moves nothing"),
    Expectation(
        sum_over_a_captured_table, "local", "bytes", moved, 4 * (4000 * 256 + 2 * 4000), "the table, x and the result"
    ),
    Expectation(sum_over_a_captured_table, "local", "by XLA", by_xla, 1.0, "XLA's cost analysis"),
    Expectation(greatest_of_a_captured_table, "local", "by XLA", by_xla, 1.0, "XLA's cost analysis"),
    Expectation(
        sum_over_a_captured_table, "local", "needed", needed, 4 * (4000 * 256 + 2 * 4000), "the table, x and the result"
    ),
    Expectation(
        sum_over_a_captured_table, "local", "peak", at_peak, 4 * (4000 * 256 + 2 * 4000), "a constant lives throughout"
    ),
    Expectation(sum_over_a_captured_table, "local", "header", header("memory needed"), "4.13 MB", "the same by hand"),
)  # fmt: skip
def test_what_moves_is_counted_once_and_nothing_else(expectation: Expectation) -> None:
    holds(expectation)
