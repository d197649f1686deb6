"""The kinds of tests that projects write: an exported function, a kernel and a library's function; steps are beside."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import export
from jax.experimental import pallas as pl

from jaxstage_ext.testing import CompiledProgram, compiled


def exported(fn: Any, *args: Any) -> CompiledProgram:
    return compiled(export.export(jax.jit(fn))(*args))


def test_an_exported_function_keeps_its_size() -> None:
    x = jax.ShapeDtypeStruct((256, 256), jnp.float32)
    program = exported(lambda x: jnp.tanh(x @ x), x)
    program.flops(at_most="34 MFLOP").memory(at_most="1 MB").collectives(at_most={"all-gather": 0})
    with pytest.raises(AssertionError, match="FLOPs is 67"):
        exported(lambda x: x @ x @ x, x).flops(at_most="34 MFLOP")
    with pytest.raises(AssertionError, match="unknown: JAX did not trace it here"):
        program.no_finding("promotion")


def scaled(factor: float) -> Any:
    def kernel(x: Any, out: Any) -> None:
        out[...] = x[...] * factor

    def call(x: jax.Array) -> jax.Array:
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)

    return call


def test_a_kernel_keeps_its_dtype() -> None:
    half = jax.ShapeDtypeStruct((128, 128), jnp.bfloat16)
    assert compiled(scaled(2.0), half).dtype_of("pl.pallas_call") == {"bf16"}
    wide = jax.ShapeDtypeStruct((128, 128), jnp.float32)
    assert compiled(scaled(2.0), wide).dtype_of("pl.pallas_call") == {"f32"}


def test_a_library_s_function_moves_no_more_than_it_did() -> None:
    logits, labels = jax.ShapeDtypeStruct((64, 1000), jnp.float32), jax.ShapeDtypeStruct((64,), jnp.int32)
    import optax

    good = compiled(optax.softmax_cross_entropy_with_integer_labels, logits, labels)
    good.bytes_moved(at_most="1.5 MB").no_finding("index array")

    def sorted_first(logits: jax.Array, labels: jax.Array) -> jax.Array:
        return optax.softmax_cross_entropy_with_integer_labels(jnp.sort(jnp.sort(logits, 0), 1), labels)

    with pytest.raises(AssertionError, match="bytes moved is"):
        compiled(sorted_first, logits, labels).bytes_moved(at_most="1.5 MB")
