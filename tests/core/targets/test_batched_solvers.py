"""Solvers of a sharded batch: each device solves its part, as JAX registers them with XLA's partitioner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


@pytest.mark.parametrize("target", ["cpu:4", "h100:4"])
@pytest.mark.parametrize("solve", [jnp.linalg.eigh, jnp.linalg.qr], ids=["eigh", "qr"])
def test_no_matrix_of_a_sharded_batch_leaves_its_device(solve: Callable[..., Any], target: str) -> None:
    """As jax.jit compiles them for four CPU devices here: no collective in its HLO."""
    needs(target)
    matrices = jax.ShapeDtypeStruct((64, 32, 32), jnp.float32)
    made = inspect(solve, matrices, target=target, mesh={"b": 4}, in_specs=P("b"))
    assert made.compiled.proto and not len(made.collectives)
