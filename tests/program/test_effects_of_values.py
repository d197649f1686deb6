"""Values in the host's memory are effects of a call, by JAX's shardings."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding

from jaxstage_ext import inspect

PINNED = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
TABLE = jax.ShapeDtypeStruct((1000, 64), jnp.float32, sharding=PINNED)


def update(x: Any, y: Any) -> Any:
    return x.at[jnp.arange(5)].set(y)


def listed(function: Any, *arguments: Any) -> dict[str, str]:
    table = inspect(function, *arguments, stage="lower").effects
    return {row["operation"]: row["what"] for row in table.rows()}


def test_an_argument_and_a_result_in_the_host_s_memory_are_named() -> None:
    """The program has no device_put: StableHLO has the memory kind as an attribute of @main."""
    y = jnp.ones((5, 64))
    text = jax.jit(update).lower(TABLE, y).as_text()
    assert text.count("pinned_host") == 1
    assert listed(update, TABLE, y) == {"argument x": "lies in the host's memory (pinned_host, 256 kB)"}
    kept = listed(jax.jit(update, out_shardings=PINNED), TABLE, y)
    assert set(kept.values()) == {"lies in the host's memory (pinned_host, 256 kB)"}
    assert len(kept) == 2
    assert "nothing on the host" not in " ".join(inspect(update, TABLE, y, stage="lower").effects.notes)


def test_arrays_on_their_own_device_are_no_effect() -> None:
    table = inspect(update, jnp.ones((1000, 64)), jnp.ones((5, 64)), stage="lower").effects
    assert len(table) == 0
    assert "nothing on the host" in " ".join(table.notes)
