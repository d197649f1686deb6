"""A static argument that has no hash is named, with what to pass instead."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect


@functools.partial(jax.jit, static_argnames="sizes")
def by_name(x: Any, sizes: Any) -> Any:
    return x.reshape(sizes)


@functools.partial(jax.jit, static_argnums=1)
def by_number(x: Any, sizes: Any) -> Any:
    return x.reshape(tuple(sizes))


@pytest.mark.parametrize("function", [by_name, by_number])
def test_the_argument_and_what_to_pass_instead(function: Any) -> None:
    x = jnp.ones((4, 4))
    with pytest.raises(ValueError, match="hash") as raised:
        inspect(function, x, sizes=[2, 8]) if function is by_name else inspect(function, x, [2, 8])
    assert "The static argument sizes is a list, which has no hash; pass a tuple." in raised.value.__notes__
    inspect(by_name, x, sizes=(2, 8))
