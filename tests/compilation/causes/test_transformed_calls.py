"""Jitted functions under an outside transformation, and numbers and functions that a library takes as static."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.compilation.causes.cause import Cause
from jaxstage_ext.compilation.records.compile_record import Entry
from jaxstage_ext.compilation.records.signature_text import signature_text

X = np.ones((4, 3), np.float32)


def test_the_batch_that_vmap_gives_a_jitted_function(heard: Any) -> None:
    inner = jax.jit(lambda x: x * 2)
    jax.vmap(inner)(X)
    jax.vmap(inner)(X[:2])
    first, second = heard.all("<lambda>")
    assert [signature_text(told.record) for told in (first, second)] == ["f32[4,3]", "f32[2,3]"]
    assert first.cause is second.cause is Cause.TRANSFORMED
    assert not first.changes
    assert second.changes == [("x", "f32[4,3]", "f32[2,3]")]


def test_operations_of_jax_inside_a_transformation_are_eager(heard: Any) -> None:
    jax.grad(lambda x: jnp.sum(jnp.where(x > 0, x, 0)))(X)
    jax.vmap(lambda x: jnp.sum(x))(X)
    assert heard.count() == 0
    assert {told.record.entry for told in heard.eager("_reduce_sum")} == {Entry.EAGER}


def test_the_shape_of_what_a_static_jitted_function_captures(heard: Any) -> None:
    @partial(jax.jit, static_argnums=0)
    def loop(body: Any, x: Any) -> Any:
        return body(x)

    def bodied(data: Any) -> Any:
        return jax.jit(lambda x: x + data.sum())

    loop(bodied(X), 1.0)
    loop(bodied(X[:2]), 1.0)
    told = heard.last("loop")
    assert (told.cause, told.changes[1:]) == (Cause.STATIC_IDENTITY, [("data in body", "f32[4,3]", "f32[2,3]")])


def test_a_number_and_a_function_given_to_diffrax(heard: Any) -> None:
    diffrax = pytest.importorskip("diffrax")

    def solve(field: Any, args: Any) -> None:
        diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.5, jnp.ones(2), args=args)

    def decay(t: Any, y: Any, args: Any) -> Any:
        return -args * y

    solve(decay, 1.0)
    solve(decay, 2.0)
    number = heard.last("diffeqsolve")
    assert (number.changes, number.advice.code) == ([("args", "1.0", "2.0")], "jnp.asarray(args)")
    assert all(name in number.advice.sentence for name in ("equinox.filter_jit", "diffrax", "args"))
    solve(decay, jnp.asarray(3.0))
    count = len(heard.all("diffeqsolve"))
    solve(decay, number.mended(args=4.0))
    assert len(heard.all("diffeqsolve")) == count
    for k in (1.0, 2.0):
        solve(lambda t, y, args, k=k: -k * y, 1.0)
    function = heard.last("diffeqsolve")
    assert function.cause is Cause.STATIC_IDENTITY and "terms.vector_field" in function.advice.sentence


def test_a_function_that_a_library_made(heard: Any) -> None:
    optax = pytest.importorskip("optax")
    params = {"w": X}
    for _ in range(2):
        adam = optax.sgd(0.1)
        jax.jit(adam.update)(params, adam.init(params))
    told = heard.last("update_fn")
    assert told.advice.code == ""
    assert "optax" in told.advice.sentence and "update_fn" in told.advice.sentence
