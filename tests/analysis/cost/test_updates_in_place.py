"""An update in place reads and writes what it is given, not the array that it is put into."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxstage_ext import inspect


def test_a_slice_that_is_put_into_a_donated_array_moves_its_own_bytes() -> None:
    def put(cache: Any, new: Any, at: Any) -> Any:
        return jax.lax.dynamic_update_slice(cache, jnp.sin(new) * 2, (at,))

    inspection = inspect(jax.jit(put, donate_argnums=0), jnp.ones(4096), jnp.ones(16), 3)
    [row] = inspection.cost.table.rows()
    assert (row["bytes read"], row["bytes written"]) == (16 * 4 + 4, 16 * 4), "16 numbers and the place"
