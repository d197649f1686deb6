"""Classes that a cell defines again: JAX takes their values for others, though all that they hold is equal."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from jaxstage_ext.compilation.causes.cause import Cause

X = np.ones((4, 3), np.float32)


def named_tuple() -> Any:
    return namedtuple("State", "a")


def data_class() -> Any:
    @dataclasses.dataclass
    class State:
        a: Any

    return jax.tree_util.register_dataclass(State)


def node_class() -> Any:
    @jax.tree_util.register_pytree_node_class
    class State:
        def __init__(self, a: Any) -> None:
            self.a = a

        def tree_flatten(self) -> Any:
            return (self.a,), None

        @classmethod
        def tree_unflatten(cls, aux: Any, children: Any) -> Any:
            return cls(*children)

    return State


@jax.jit
def use(state: Any) -> Any:
    return jax.tree.leaves(state)[0] * 2


@partial(jax.jit, static_argnums=1)
def scaled(x: Any, config: Any) -> Any:
    return x * config.n


@pytest.mark.parametrize("define", [named_tuple, data_class, node_class])
def test_a_class_of_a_pytree(define: Any, heard: Any) -> None:
    use(define()(X))
    use([X])
    use(define()(X))
    told = heard.last("use")
    assert (told.cause, told.changes) == (Cause.PYTREE, [("state", "State", "State")])
    assert " State " in told.advice.sentence


def test_one_class_is_one_program(heard: Any) -> None:
    kind = data_class()
    use(kind(X))
    use(kind(X))
    assert heard.count() == 1


def test_a_class_of_a_static_argument(heard: Any) -> None:
    for _ in range(2):

        @dataclasses.dataclass(frozen=True)
        class Config:
            n: int

        scaled(X, Config(2))
    told = heard.last("scaled")
    assert (told.cause, told.changes) == (
        Cause.STATIC_VALUE,
        [("config", "Config", "Config")],
    )
    assert told.verdict.differences[0].is_of_new_class
    count = heard.count()
    scaled(X, Config(2))
    assert heard.count() == count


def test_a_dict_for_a_list_has_no_code(heard: Any) -> None:
    first = jax.jit(lambda state: jax.tree.leaves(state)[0])
    first([X])
    first({"a": X})
    told = heard.last()
    assert (told.changes, told.advice.code) == ([("state", "list", "dict")], "")
