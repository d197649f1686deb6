"""What of a call runs in Python at each call, counted by calling it."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext import inspect

CALLS: list[str] = []


@jax.tree_util.register_pytree_node_class
class Cell:
    def __init__(self, v: Any) -> None:
        self.v = v

    def tree_flatten(self) -> Any:
        CALLS.append("flatten")
        return (self.v,), None

    @classmethod
    def tree_unflatten(cls, _: Any, leaves: Any) -> Cell:
        CALLS.append("build")
        return cls(*leaves)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Native:
    a: Any


@dataclasses.dataclass(frozen=True)
class Config:
    size: int


def notes(function: Any, *arguments: Any) -> str:
    return " ".join(inspect(function, *arguments).dispatch.notes)


def first(cells: Any, x: Any) -> Any:
    return x + cells["p0"].v


def test_nodes_that_python_flattens_are_counted_as_often_as_it_does() -> None:
    cells = {f"p{i}": Cell(jnp.float32(i)) for i in range(200)}
    step, x = jax.jit(first), jnp.ones(8)
    step(cells, x)
    CALLS.clear()
    step(cells, x)
    assert CALLS.count("flatten") == 200  # by counting the calls of one call
    said = notes(step, cells, x)
    assert "200 pytree nodes (Cell)" in said
    assert "calls stay in C++." not in said


def test_nodes_of_results_are_counted_too() -> None:
    step = jax.jit(lambda x: [Cell(x), Cell(x + 1), {"a": x}])
    said = notes(step, jnp.ones(8))
    assert "builds 2 pytree nodes (Cell)" in said
    assert "flattens" not in said


def test_what_c_takes_apart_is_not_counted() -> None:
    step = jax.jit(lambda tree: tree["a"].a + tree["b"][0])
    said = notes(step, {"a": Native(jnp.ones(3)), "b": [jnp.ones(3), (None, 1)]})
    assert "pytree node" not in said
    assert "1 pytree node (OrderedDict)" in notes(jax.jit(lambda d: d["a"]), OrderedDict(a=jnp.ones(3)))


def test_a_registered_dataclass_among_the_results_is_built_in_c() -> None:
    assert "pytree node" not in notes(jax.jit(lambda x: [Native(x), x]), jnp.ones(8))


def test_a_static_argument_that_hashes_in_python_is_named() -> None:
    step = jax.jit(lambda config, x: x * config.size, static_argnums=0)
    assert "static arguments in Python: Config" in notes(step, Config(3), jnp.ones(3))


def test_arguments_that_are_used_come_before_those_that_are_not() -> None:
    cells = {f"p{i}": Cell(jnp.float32(i)) for i in range(20)}
    table = inspect(jax.jit(lambda cells, x: cells["p7"].v + x), cells, jnp.ones(8)).dispatch
    assert table["at the call"][:2] == ["as it is", "as it is"]
    assert set(table["at the call"][2:]) == {"not passed: unused"}


def test_a_float64_scalar_of_numpy_is_converted_as_an_array_is() -> None:
    said = notes(jax.jit(lambda x: x + 1), np.float64(2.0))
    assert "is converted from float64 to float32 first" in said
    assert "converted" not in notes(jax.jit(lambda x: x + 1), 2.0)
