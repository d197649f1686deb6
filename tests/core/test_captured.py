"""The names by which a function knows the arrays that it closed over."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext.core.inputs import captured

TABLE = jnp.arange(6.0)
PARAMS = {"w": jnp.ones((2, 2)), "b": [np.ones(3)]}


class Model:
    def __init__(self) -> None:
        self.kernel = jnp.zeros((2, 2))
        self.parts = [jnp.zeros(4)]

    def __call__(self, x: jax.Array) -> jax.Array:
        return x @ self.kernel

    def method(self, x: jax.Array) -> jax.Array:
        return x + self.kernel

    @property
    def touched(self) -> Any:
        TOUCHED.append("a property")
        raise AssertionError


TOUCHED: list[str] = []
"""What was called of the user's, whoever catches what that raises."""
MODEL = Model()


def helper(x: jax.Array) -> jax.Array:
    return x + TABLE.sum()


def names(fn: Any, *arrays: Any) -> list[tuple[str, ...]]:
    return captured.names(fn, arrays)


def test_globals_and_what_they_hold() -> None:
    def f(x: jax.Array) -> jax.Array:
        return x @ PARAMS["w"] + PARAMS["b"][0].sum() + TABLE[0]

    assert names(f, PARAMS["w"], PARAMS["b"][0], TABLE) == [("PARAMS['w']",), ("PARAMS['b'][0]",), ("TABLE",)]


def test_closures_defaults_and_functions_that_it_calls() -> None:
    cell, default = jnp.ones(5), jnp.ones(7)

    def f(x: jax.Array, d: Any = default) -> jax.Array:
        return helper(x) + cell.sum() + d.sum()

    assert names(f, cell, default, TABLE) == [("cell",), ("d",), ("TABLE",)]


def test_objects_their_methods_and_wrappers() -> None:
    assert names(lambda x: MODEL(x), MODEL.kernel, MODEL.parts[0]) == [("MODEL.kernel",), ("MODEL.parts[0]",)]
    assert names(MODEL.method, MODEL.kernel) == [("self.kernel",)]
    assert TOUCHED == []
    assert names(jax.jit(helper), TABLE) == [("TABLE",)]
    bound = jnp.ones(9)
    assert names(functools.partial(lambda w, x: w + x, bound), bound) == [("<lambda>(…)[0]",)]


def test_an_array_that_no_name_leads_to() -> None:
    assert names(helper, jnp.ones(3)) == [()]


def test_what_refers_to_itself() -> None:
    loop: dict[str, Any] = {"array": jnp.ones(2)}
    loop["loop"] = loop
    assert names(lambda: loop, loop["array"]) == [("loop['array']",)]
