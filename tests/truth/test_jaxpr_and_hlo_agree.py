"""Where the compiler has done nothing, the count of the jaxpr is the count of the HLO, which is made another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxstage_ext.analysis.cost import jaxpr_cost, module_cost
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.ir.hlo import module as hlo

f32, c64 = jnp.float32, jnp.complex64
A, B = jnp.ones((48, 64)), jnp.ones((64, 32))
IMAGES, KERNEL = jnp.ones((2, 8, 16, 16)), jnp.ones((16, 8, 3, 3))


def pooled(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME")


def layers(x: jax.Array) -> jax.Array:
    return lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, jnp.ones((6, 64, 64)))[0]


def normalised(x: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-6)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "product": (lambda a, b: a @ b, (A, B)),
    "complex product": (lambda a, b: a @ b, (A.astype(c64), B.astype(c64))),
    "complex arithmetic": (lambda a: (a * a + a - 1) / a, (A.astype(c64),)),
    "complex sum and product": (lambda a: a.sum() * a.prod(), (A.astype(c64),)),
    "complex cube": (lambda a: a**3, (A.astype(c64),)),
    "strided, dilated convolution": (
        lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", rhs_dilation=(2, 2)), (IMAGES, KERNEL),
    ),
    "batched einsum": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), (jnp.ones((4, 8, 16)), jnp.ones((4, 16, 8)))),
    "softmax": (jax.nn.softmax, (A,)),
    "normalisation": (normalised, (A,)),
    "pooling with padding": (pooled, (IMAGES,)),
    "sort along an axis": (lambda x: jnp.sort(x, axis=0), (A,)),
    "scatter": (lambda x, i: x.at[i].add(1.0), (A, jnp.arange(10))),
    "triangular solve": (lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True), (jnp.eye(64), B)),
    "batch of triangular solves": (
        lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True), (jnp.ones((3, 64, 64)), jnp.ones((3, 64, 5))),
    ),
    "householder product": (lax.linalg.householder_product, (jnp.ones((64, 32)), jnp.ones(32))),
    "scan": (layers, (jnp.ones((8, 64)),)),
    "fft": (jnp.fft.fft, (A.astype(c64),)),
    "four-bit weights": (lambda x, w: x @ w.astype(f32), (A, B.astype(jnp.int4))),
}  # fmt: skip
"""Programs that JAX lowers as they are; a convolution of complex numbers, say, it lowers as three of real ones."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_counts_are_equal(name: str) -> None:
    function, arguments = PROGRAMS[name]
    traced = jax.jit(function).trace(*arguments)
    on_jaxpr = jaxpr_cost.total(traced.jaxpr)
    ops = hlo.parse(traced.lower().compiler_ir("hlo").as_serialized_hlo_module_proto())
    nowhere = [""] * len(ops)
    on_hlo = module_cost.read(ops, Places(np.arange(len(ops)), nowhere, nowhere))
    transcendentals = float((on_hlo.transcendentals * on_hlo.runs)[on_hlo.shown].sum())
    counting_iterations = 3 * 12 if name == "scan" else 0
    assert not on_jaxpr.unknown
    assert not on_hlo.why
    assert on_hlo.total_flops == pytest.approx(on_jaxpr.flops, rel=1e-9, abs=counting_iterations)
    assert transcendentals == on_jaxpr.transcendentals
