"""A NumPy array that a function captures has the name of the global or the cell that holds it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxstage_ext import inspect

TABLE = np.random.default_rng(0).standard_normal((300, 256)).astype(np.float32)
OTHER = TABLE + 1


def weighted(x: Any) -> Any:
    return TABLE @ x


def test_a_captured_array_of_numpy_has_its_name() -> None:
    constants = inspect(weighted, jnp.ones(256)).memory.constants
    assert constants["constant"] == ["TABLE"]


def test_an_array_of_other_values_has_not() -> None:
    def local(x: Any) -> Any:
        made = OTHER * 2
        return made @ x

    assert "OTHER" not in str(inspect(local, jnp.ones(256)).memory.constants["constant"])
