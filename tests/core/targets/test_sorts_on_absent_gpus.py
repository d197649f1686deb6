"""Sorts that XLA gives to CUB, which needs the GPU to compile: they are compiled as XLA's own, and that is said."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from absent import needs

from jaxstage_ext import inspect

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


@pytest.mark.parametrize(("length", "is_large"), [(1 << 17, True), (1 << 10, False)])
def test_a_large_sort_compiles_and_says_whose_it_is(length: int, is_large: bool) -> None:
    needs("h100")
    made = inspect(jnp.argsort, jax.ShapeDtypeStruct((length,), jnp.float32), target="h100")
    assert made.error is None and " sort(" in made.documents["hlo"].text
    assert any("CUB" in note for note in made.summary()["notes"]) is is_large
