"""Verdicts of the roofline: what bounds a program, and where something unknown could decide, that it is unknown."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxstage_ext.analysis.cost.ceilings import Ceiling, Doubt
from jaxstage_ext.analysis.cost.work_range import RangeCause
from tests.truth.expectation import Expectation, UserProgram, answer, holds, rows

N = 2048
F32 = jax.ShapeDtypeStruct((N, N), jnp.float32)
BF16 = jax.ShapeDtypeStruct((N, N), jnp.bfloat16)


def sines() -> UserProgram:
    """Eight sines of each element: range reduction takes a vector unit tens of operations."""

    def apply(x: jax.Array) -> jax.Array:
        for _ in range(8):
            x = jnp.sin(x)
        return x

    return UserProgram(apply, (F32,))


def softmax() -> UserProgram:
    return UserProgram(jax.nn.softmax, (F32,))


def sine_in_a_scan() -> UserProgram:
    """The TPU compiler puts the sine into a fusion within the product's fusion."""
    square = jax.ShapeDtypeStruct((128, 128), jnp.float32)
    return UserProgram(lambda x: lax.scan(lambda c, _: (jnp.sin(c) @ c, None), x, None, 5)[0], (square,))


def increment() -> UserProgram:
    return UserProgram(lambda x: x + 1, (BF16,))


def mlp() -> UserProgram:
    """Two large products with a gelu between them: few transcendental functions beside many FLOPs."""
    wide, narrow = jax.ShapeDtypeStruct((N, 4 * N), jnp.bfloat16), jax.ShapeDtypeStruct((4 * N, N), jnp.bfloat16)
    return UserProgram(lambda x, w, v: jax.nn.gelu(x @ w) @ v, (BF16, wide, narrow))


def c64_product() -> UserProgram:
    square = jax.ShapeDtypeStruct((N, N), jnp.complex64)
    return UserProgram(lambda x, y: x @ y, (square, square))


def s32_product() -> UserProgram:
    square = jax.ShapeDtypeStruct((512, 512), jnp.int32)
    return UserProgram(lambda x, y: x @ y, (square, square))


def f16_product() -> UserProgram:
    square = jax.ShapeDtypeStruct((N, N), jnp.float16)
    return UserProgram(lambda x, y: x @ y, (square, square))


def iterate_products() -> UserProgram:
    """A loop of unknown length whose body is bound by compute, whatever its length."""
    return UserProgram(lambda x: lax.while_loop(lambda x: jnp.sum(x) < 1e9, lambda x: x @ x, x), (F32,))


def n_products() -> UserProgram:
    """As many products as an argument says: none where it is 0."""
    n = jax.ShapeDtypeStruct((), jnp.int32)
    return UserProgram(lambda n, x: lax.fori_loop(0, n, lambda i, x: x @ x, x), (n, F32))


def at_least(inspection: Any) -> str:
    """The lower bound and the mark that a comparison gives it."""
    cell = inspection.row().figures["time"]
    return f"{cell.text} {cell.remark}"


def scale_until_then_multiply() -> UserProgram:
    """Memory traffic in a loop of unknown length, then a product: what takes longer depends on the length."""
    return UserProgram(lambda x: (y := lax.while_loop(lambda x: jnp.sum(x) < 1e9, lambda x: x * 2, x)) @ y, (F32,))


def product_or_copy() -> UserProgram:
    """A branch bound by compute or one bound by memory."""
    flag = jax.ShapeDtypeStruct((), jnp.bool_)
    return UserProgram(lambda flag, x: lax.cond(flag, lambda x: x @ x, lambda x: x + 1, x), (flag, F32))


def bound(inspection: Any) -> str:
    return str(inspection.cost.roofline.bounded_by)


def known_traffic(inspection: Any) -> float:
    return float(inspection.cost.roofline.decision.known[Ceiling.MEMORY])


def total(inspection: Any) -> float:
    return float(inspection.cost.roofline.total)


def unknown_functions(inspection: Any) -> list[str]:
    reasons = inspection.cost.roofline.reasons
    return [name for reason in reasons if reason.doubt is Doubt.FUNCTION for name in reason.what]


def open_because(inspection: Any) -> list[RangeCause]:
    return [reason.cause for reason in inspection.cost.work.flops_range.reasons]


def doubts(inspection: Any) -> list[str]:
    return [reason.doubt.name for reason in inspection.cost.roofline.reasons]


BYTES = 2 * 4 * N * N
TRAFFIC = "4 bytes in and out of each element by the HBM bandwidth"


@rows(
    Expectation(sines, "v5e:2x2", "bound", bound, "unknown", "39 cycles a sine by libtpu: 31 times the traffic's time"),
    Expectation(sines, "v5e:2x2", "doubts", doubts, ["FUNCTION"], "the cost of a sine is not published"),
    Expectation(sines, "v5e:2x2", "total", total, BYTES / 819e9, TRAFFIC),
    Expectation(sines, "v5e:2x2", "functions", unknown_functions, ["sine"], "the only thing unknown"),
    Expectation(sines, "v5e:2x2", "answer", answer("bound"), "sine", "the only thing unknown"),
    Expectation(sine_in_a_scan, "v5e:2x2", "nested", unknown_functions, ["sine"], "the body has one function"),
    Expectation(sines, "v5e:2x2", "known", known_traffic, 1.0, TRAFFIC),
    Expectation(sines, "h100", "bound", bound, "unknown", "no figure of sinf is published"),
    Expectation(sines, "h100", "total", total, BYTES / 3352.32e9, TRAFFIC),
    Expectation(
        softmax, "v5e:2x2", "bound", bound, "memory", "an exponential takes less than the traffic of an element"
    ),
    Expectation(softmax, "h100", "bound", bound, "memory", "an exponential takes less than the traffic of an element"),
    Expectation(increment, "v6e:2x2", "bound", bound, "memory", "no vector unit is so slow; its peak is not published"),
    Expectation(increment, "b200", "bound", bound, "memory", "one operation for four bytes"),
    Expectation(increment, "v5e:2x2", "doubts", doubts, [], "one operation for four bytes"),
    Expectation(mlp, "v5e:2x2", "bound", bound, "compute", "8192 FLOP a byte of the weights"),
    Expectation(mlp, "v6e:2x2", "bound", bound, "compute", "8192 FLOP a byte of the weights"),
    Expectation(mlp, "h100", "bound", bound, "compute", "8192 FLOP a byte of the weights"),
    Expectation(c64_product, "h100", "bound", bound, "compute", "8 n^3 FLOPs by 494.7 TFLOP/s, 24 n^2 bytes"),
    Expectation(c64_product, "h100", "doubts", doubts, [], "as above"),
    Expectation(s32_product, "v5e:2x2", "bound", bound, "compute", "ten bf16 passes"),
    Expectation(s32_product, "h100", "bound", bound, "compute", "33.5 TOP/s: 8 us, 3 MB: 0.9 us"),
    Expectation(f16_product, "v5e:2x2", "bound", bound, "compute", "one bf16 pass: 87 us, 25 MB: 31 us"),
    Expectation(iterate_products, "h100", "bound", bound, "unknown", "no iteration leaves the test, which only reads"),
    Expectation(n_products, "h100", "bound", bound, "unknown", "bound by memory for n = 0, by compute for n = 9"),
    Expectation(n_products, "h100", "total", total, BYTES / 3352.32e9, "n = 0 copies x: 33.6 MB"),
    Expectation(n_products, "h100", "compared", at_least, "at least", "a lower bound has no rank"),
    Expectation(iterate_products, "h100", "answer", open_because, [RangeCause.LOOP], "the loop's length is unknown"),
    Expectation(iterate_products, "h100", "FLOPs", answer("bound"), " 17.", "one product of 17.2 GFLOP"),
    Expectation(scale_until_then_multiply, "h100", "bound", bound, "unknown", "depends on the loop's length"),
    Expectation(scale_until_then_multiply, "h100", "doubts", doubts, ["LOOP"], "nothing else is unknown"),
    Expectation(scale_until_then_multiply, "v5e:2x2", "bound", bound, "unknown", "no iteration leaves the product"),
    Expectation(product_or_copy, "h100", "bound", bound, "unknown", "compute or memory, as the branch"),
    Expectation(product_or_copy, "h100", "doubts", doubts, ["BRANCH"], "nothing else is unknown"),
    Expectation(product_or_copy, "v5e:2x2", "bound", bound, "unknown", "compute or memory, as the branch"),
)
def test_what_bounds_a_program(expectation: Expectation) -> None:
    holds(expectation)
