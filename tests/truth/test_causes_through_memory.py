"""Collectives of values that go through the host's memory: their cause is that of the program without the moves.

The oracle: naming a memory moves no data between devices, so only the second product needs `w` of all of them.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect

X = jax.ShapeDtypeStruct((256, 256), jnp.float32)


def through_host(value: Any) -> Any:
    return jax.device_put(jax.device_put(value, jax.memory.Space.Host), jax.memory.Space.Device)


def moved(x: Any, w: Any) -> Any:
    wide = through_host(w * 2)
    return jnp.tanh(x @ wide)


def plain(x: Any, w: Any) -> Any:
    wide = w * 2
    return jnp.tanh(x @ wide)


@pytest.mark.parametrize("target", ["cpu:4", "v5e:2x2", "h100:4"])
def test_a_memory_on_the_way_is_not_the_cause(target: str) -> None:
    of = {}
    for function in (moved, plain):
        specs = (P("d", None), P("d", None))
        [row] = inspect(jax.jit(function), X, X, target=target, mesh={"d": 4}, in_specs=specs).collectives.table.rows()
        line = int(row["line"].rsplit(":", 1)[1]) - function.__code__.co_firstlineno
        of[function] = (row["collective"], row["cause"], row["from"], row["to"], line)
    assert of[moved] == of[plain] and of[moved][1].endswith("for dot_general")
    assert of[moved][-1] == 2
