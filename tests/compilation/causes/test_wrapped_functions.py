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
    assert first.cause is Cause.FIRST and f" {written} " in first.why
    assert not first.verdict.is_wasted
    jax.jit(made())(*given)
    again = heard.last()
    assert (again.cause, again.verdict.is_wasted) == (Cause.MADE_ANEW, True)
    assert again.code.endswith(f"= jax.jit({written})")


def test_a_partial_is_another_function_than_the_one_inside(heard: Any) -> None:
    jax.jit(loss)(1.0, X)
    jax.jit(partial(loss, x=X))(1.0)
    assert heard.causes() == [Cause.FIRST, Cause.FIRST]
    assert " functools.partial(loss) " in heard.last().why


def test_what_a_partial_is_given_by_position_has_its_parameters_name(heard: Any) -> None:
    for w in (1.0, 2.0):
        jax.jit(partial(loss, w))(X)
    told = heard.last()
    assert (told.cause, told.changes[1:]) == (Cause.PARTIAL_MADE_ANEW, [("w", "1.0", "2.0")])
    assert told.code == "loss = jax.jit(loss)\nloss(w, ...)"


def test_an_object_that_is_called(heard: Any) -> None:
    model = Model(3.0)
    jax.jit(model)(X)
    jax.jit(model)(X)
    assert heard.causes() == [Cause.FIRST]
    assert " Model.__call__ " in heard.last().why
    jax.jit(Model(2.0))(X)
    other = heard.last()
    assert (other.cause, other.changes) == (
        Cause.METHOD_MADE_ANEW,
        [("Model", "Model", "Model"), ("self.w", "3.0", "2.0")],
    )
    jax.jit(Model(2.0))(X)
    equal = heard.last()
    assert equal.changes == [("Model", "Model", "Model")]
    assert equal.code == "call = jax.jit(model)"
    jax.jit(model.__call__)(X)
    assert heard.last().cause is Cause.FIRST, "its method is not the object"
