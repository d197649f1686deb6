"""Two collectives of one shape: which is for the operand of a product, and which for the result."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect


def two_layers(x: Any, w: Any, v: Any) -> Any:
    return jnp.sin(jnp.maximum(x @ w, 0) @ v)


def test_a_product_s_operand_and_the_result_are_told_apart() -> None:
    x, w, v = (jax.ShapeDtypeStruct(sizes, jnp.float32) for sizes in ((64, 32), (32, 128), (128, 64)))
    specs = (P("data"), P(None, "model"), P(None, "model"))
    found = inspect(
        two_layers, x, w, v, target="cpu:8", mesh="data=4,model=2", in_specs=specs, out_specs=P("data")
    ).collectives
    told = {row["cause"].removesuffix(" (inferred)"): (row["from"], row["to"]) for row in found.table.rows()}
    assert told == {
        "resharding of max for dot_general": ("P('data', 'model')", "P('data', None) with P(None, 'model')"),
        "resharding of sin for the result": ("P('data', 'model')", "P('data', None)"),
    }
