"""Products at each precision: the unit, the passes, and the least time by datasheets and a hand count."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext
from tests.truth.expectation import Expectation, UserProgram, holds, inspected, rows

N = 1024
PRODUCT = 2 * N**3
V5E, V5E_S8, V4, V6E = 197e12, 393e12, 275e12, 918e12
TF32, BF16, F32, F64, INTEGERS = 494.7e12, 989e12, 67e12, 67e12, 33.5e12
"""H100 SXM: dense peaks of its datasheet and whitepaper; F64 is that of its tensor cores."""


def product(dtype: Any, precision: Any, n: int = N) -> UserProgram:
    square = jax.ShapeDtypeStruct((n, n), dtype)
    return UserProgram(lambda x, y: jnp.matmul(x, y, precision=precision), (square, square))


def f32() -> UserProgram:
    return product(jnp.float32, None)


def f32_high() -> UserProgram:
    return product(jnp.float32, "high")


def f32_highest() -> UserProgram:
    return product(jnp.float32, jax.lax.Precision.HIGHEST)


def f32_8192_highest() -> UserProgram:
    return product(jnp.float32, "highest", 8192)


def bf16() -> UserProgram:
    return product(jnp.bfloat16, None)


def bf16_highest() -> UserProgram:
    return product(jnp.bfloat16, "highest")


def f16() -> UserProgram:
    return product(jnp.float16, None)


def f16_highest() -> UserProgram:
    return product(jnp.float16, "highest")


def s8() -> UserProgram:
    return product(jnp.int8, None)


def s16() -> UserProgram:
    return product(jnp.int16, None)


def s32() -> UserProgram:
    """Smaller, since libtpu takes long to compile ten passes."""
    return product(jnp.int32, None, N // 2)


def bf16_x3() -> UserProgram:
    return product(jnp.float32, "BF16_BF16_F32_X3")


def bf16_x6() -> UserProgram:
    return product(jnp.float32, "BF16_BF16_F32_X6")


def tf32_x3() -> UserProgram:
    return product(jnp.float32, "TF32_TF32_F32_X3")


def full_f32() -> UserProgram:
    return product(jnp.float32, "F32_F32_F32")


def mixed_convolution() -> UserProgram:
    """A convolution of eight images at the highest precision."""
    images, kernel = jax.ShapeDtypeStruct((8, 16, 16, 128), jnp.float32), jax.ShapeDtypeStruct((3, 3, 128, 128), "f4")
    return UserProgram(
        lambda x, k: jax.lax.conv_general_dilated(
            x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest"
        ),
        (images, kernel),
    )


def bf16_gelu() -> UserProgram:
    """Elementwise work in bf16."""
    return UserProgram(lambda x: x * x + x, (jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16),))


def longest(inspection: Any) -> float:
    """The lower bound of the instruction that takes longest."""
    return float(inspection.cost.roofline.seconds[0])


def unit(inspection: Any) -> str:
    return str(inspection.cost.roofline.unit[0])


def peak(name: str) -> Any:
    return lambda inspection: inspection.cost.roofline.peaks[name]


JAX_SAYS = "jax.lax.Precision: one, three or six bf16 passes on a TPU"
CYCLES = "libtpu's estimated cycles beside those of bf16"
PTX = "the PTX of the kernel: "


@rows(
    Expectation(f32, "v5e:2x2", "time", longest, PRODUCT / V5E, JAX_SAYS),
    Expectation(f32_high, "v5e:2x2", "time", longest, 3 * PRODUCT / V5E, JAX_SAYS),
    Expectation(f32_highest, "v5e:2x2", "time", longest, 6 * PRODUCT / V5E, JAX_SAYS),
    Expectation(f32_highest, "v5e:2x2", "unit", unit, "bf16 matrix x6", JAX_SAYS),
    Expectation(f32_highest, "v5e:2x2", "peak", peak("bf16 matrix x6"), V5E / 6, JAX_SAYS),
    Expectation(f32_highest, "v6e:2x2", "time", longest, 6 * PRODUCT / V6E, JAX_SAYS),
    Expectation(f32_highest, "v4:2x2x1", "time", longest, 6 * PRODUCT / V4, JAX_SAYS),
    Expectation(bf16, "v5e:2x2", "time", longest, PRODUCT / V5E, "v5e: 197 TFLOP/s in bf16"),
    Expectation(bf16_highest, "v5e:2x2", "time", longest, PRODUCT / V5E, "bf16 has nothing to gain by more passes"),
    Expectation(f16, "v5e:2x2", "time", longest, PRODUCT / V5E, CYCLES),
    Expectation(f16_highest, "v5e:2x2", "time", longest, 3 * PRODUCT / V5E, CYCLES),
    Expectation(s8, "v5e:2x2", "time", longest, PRODUCT / V5E_S8, "v5e: 393 TOP/s in int8"),
    Expectation(s16, "v5e:2x2", "time", longest, 3 * PRODUCT / V5E, CYCLES),
    Expectation(s32, "v5e:2x2", "time", longest, 10 * PRODUCT / 8 / V5E, CYCLES),
    Expectation(mixed_convolution, "v5e:2x2", "unit", unit, "bf16 matrix x6", JAX_SAYS),
    Expectation(f32, "h100", "time", longest, PRODUCT / TF32, PTX + "mma tf32", close=1e-2),
    Expectation(f32, "h100", "unit", unit, "tf32 matrix", PTX + "mma tf32"),
    Expectation(f32_high, "h100", "time", longest, PRODUCT / TF32, PTX + "mma tf32", close=1e-2),
    Expectation(f32_highest, "h100", "time", longest, PRODUCT / F32, PTX + "fma.rn.f32", close=1e-2),
    Expectation(f32_highest, "h100", "unit", unit, "f32 vector", PTX + "fma.rn.f32"),
    Expectation(f32_8192_highest, "h100", "time", longest, 16.4e-3, "1.1 TFLOP at 67 TFLOP/s", close=2e-3),
    Expectation(full_f32, "h100", "unit", unit, "f32 vector", PTX + "fma.rn.f32"),
    Expectation(bf16_x3, "h100", "time", longest, 3 * PRODUCT / BF16, PTX + "three mma bf16", close=2e-2),
    Expectation(bf16_x6, "h100", "unit", unit, "bf16 matrix x6", "jax.lax.DotAlgorithmPreset"),
    Expectation(tf32_x3, "h100", "unit", unit, "tf32 matrix x3", PTX + "three times as many mma tf32"),
    Expectation(bf16, "h100", "time", longest, PRODUCT / BF16, "H100: 989 TFLOP/s in bf16", close=2e-2),
    Expectation(f16_highest, "h100", "unit", unit, "f16 matrix", "precision matters to f32 alone on GPUs"),
    Expectation(s32, "h100", "time", longest, PRODUCT / 8 / INTEGERS, "no tensor core takes int32", close=1e-2),
    Expectation(s32, "h100", "unit", unit, "s32 vector", "no tensor core takes int32"),
    Expectation(f32_highest, "a100", "time", longest, PRODUCT / 19.5e12, "A100: 19.5 TFLOP/s in f32", close=1e-2),
    Expectation(f32, "a100", "time", longest, PRODUCT / 156e12, "A100: 156 TFLOP/s in TF32", close=1e-2),
    Expectation(bf16_gelu, "h100", "unit", unit, "bf16 vector", "elementwise work is not done by tensor cores"),
    Expectation(bf16_gelu, "h100", "peak", peak("bf16 vector"), 133.8e12, "H100 whitepaper, non-Tensor BF16"),
    Expectation(bf16_gelu, "a100", "peak", peak("bf16 vector"), 39e12, "A100 whitepaper, non-Tensor BF16"),
    Expectation(bf16_gelu, "v5e:2x2", "peak", peak("f32 vector"), 6.144e12, "8 x 128 lanes, 4 ALUs, 1.5 GHz"),
)
def test_products_take_as_long_as_their_precision(expectation: Expectation) -> None:
    holds(expectation)


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_f64_products_use_tensor_cores_and_elementwise_work_does_not() -> None:
    square = jax.ShapeDtypeStruct((N, N), "float64")

    def products() -> UserProgram:
        return UserProgram(lambda x: x @ x, (square,))

    def sums() -> UserProgram:
        return UserProgram(lambda x: x * x + x, (square,))

    with jax.enable_x64(True):
        times, added = inspected(products, "h100"), inspected(sums, "h100")
        assert longest(times) == pytest.approx(PRODUCT / F64, rel=1e-2)
        assert unit(times) == "f64 matrix"
        assert added.cost.roofline.peaks["f64 vector"] == 34e12
        a100 = inspected(products, "a100")
        assert longest(a100) == pytest.approx(PRODUCT / 19.5e12, rel=1e-2)


@pytest.mark.needs("tpu")
@pytest.mark.parametrize(("dtype", "precision", "passes"), [("f4", "high", 3), ("f4", "highest", 6), ("i2", None, 3)])
@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_passes_agree_with_the_cycles_that_the_compiler_estimates(dtype: str, precision: Any, passes: int) -> None:
    made = [product(jnp.bfloat16, None, 2048), product(dtype, precision, 2048)]
    once, several = (jaxstage_ext.inspect(one.function, *one.arguments, target="v5e:2x2") for one in made)
    assert str(several.cost.roofline.unit[0]) == f"bf16 matrix x{passes}"
    assert cycles(several) / cycles(once) == pytest.approx(passes, rel=0.15)


def cycles(inspection: Any) -> int:
    return max(map(int, re.findall(r'"estimated_cycles":"(\d+)"', inspection.program.documents["hlo"].text)))
