"""Wrapped functions: each wrapping with options of its own is another function, and the advice keeps them."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from jaxstage_ext.compilation.causes.cause import Cause

X = np.ones((4, 3), np.float32)


def row(r: Any) -> Any:
    return r.sum()


def loss(w: Any, x: Any) -> Any:
    return (w * x).sum()


class Model:
    def __init__(self, w: float) -> None:
        self.w = w

    def __call__(self, x: Any) -> Any:
        return x * self.w


@pytest.mark.parametrize(
    ("made", "written", "given"),
    [
        (lambda: jax.vmap(row, in_axes=1), "jax.vmap(row, in_axes=1)", (X,)),
        (lambda: jax.grad(loss, argnums=(0, 1)), "jax.grad(loss, argnums=(0, 1))", (1.0, X)),
        (lambda: jax.value_and_grad(loss, argnums=1), "jax.value_and_grad(loss, argnums=1)", (1.0, X)),
        (lambda: jax.jacrev(loss, argnums=1), "jax.jacrev(loss, argnums=1)", (1.0, X)),
        (lambda: jax.jacfwd(loss), "jax.jacfwd(loss)", (1.0, X)),
    ],
)
def test_a_transformation_with_other_options_is_another_function(
    made: Any, written: str, given: Any, heard: Any
) -> None:
    usual = {"row": lambda: jax.vmap(row)}.get(made().__wrapped__.__name__, lambda: jax.grad(loss))
    jax.jit(usual())(*given)
    jax.jit(made())(*given)
    first = heard.last()
    assert (first.cause, first.why) == (Cause.FIRST, f"first call of {written} in this log")
    assert not first.verdict.is_wasted
    jax.jit(made())(*given)
    again = heard.last()
    assert (again.cause, again.verdict.is_wasted) == (Cause.MADE_ANEW, True)
    assert again.advice.code.endswith(f"= jax.jit({written})  # once, outside the loop")


def test_a_partial_is_another_function_than_the_one_inside(heard: Any) -> None:
    jax.jit(loss)(1.0, X)
    jax.jit(partial(loss, x=X))(1.0)
    assert heard.causes() == [Cause.FIRST, Cause.FIRST]
    assert heard.last().why == "first call of functools.partial(loss) in this log"


def test_what_a_partial_is_given_by_position_has_its_parameters_name(heard: Any) -> None:
    for w in (1.0, 2.0):
        jax.jit(partial(loss, w))(X)
    told = heard.last()
    assert (told.cause, "w is 2.0, was 1.0" in told.why) == (Cause.PARTIAL_MADE_ANEW, True)
    assert told.advice.code == "loss = jax.jit(loss)  # once\nloss(w, ...)"


def test_an_object_that_is_called(heard: Any) -> None:
    model = Model(3.0)
    jax.jit(model)(X)
    jax.jit(model)(X)
    assert heard.causes() == [Cause.FIRST]
    assert heard.last().why == "first call of Model.__call__ in this log"
    jax.jit(Model(2.0))(X)
    other = heard.last()
    assert (other.cause, other.why) == (
        Cause.METHOD_MADE_ANEW,
        "the jitted function is another Model object; self.w is 2.0, was 3.0",
    )
    jax.jit(Model(2.0))(X)
    equal = heard.last()
    assert equal.why == "the jitted function is another Model object"
    assert equal.advice.code == "call = jax.jit(model)  # once, outside the loop"
    jax.jit(model.__call__)(X)
    assert heard.last().cause is Cause.FIRST, "its method is not the object"
