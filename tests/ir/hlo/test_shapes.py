"""The bytes of every element type, as XLA's own statistics of the executable have them."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect

NAMES = (
    "int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float8_e5m2", "float8_e8m0fnu", "int8", "bool_", "bfloat16",
    "float16", "int32", "complex64",
)  # fmt: skip
"""Those of two and four bits are packed where their layout says so."""


@pytest.mark.parametrize("name", NAMES)
def test_a_result_has_the_bytes_that_xla_counts(name: str) -> None:
    inspection = inspect(lambda x: x.astype(getattr(jnp, name)), jnp.ones((3, 43)))
    module = inspection.program.module
    counted = inspection.compiled.memory_analysis().output_size_in_bytes
    assert int(module.shapes.bytes[module.roots[module.entry]]) == counted > 0
