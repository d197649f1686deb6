"""Advice where one argument differs in more than one way, and for keys of random numbers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext.compilation.causes.cause import Cause

X = np.ones((4, 3), np.float32)


def test_shape_and_dtype_of_one_argument(heard: Any) -> None:
    step = jax.jit(lambda x: x + 1)
    step(X)
    step(np.ones((3, 3), np.int32))
    told = heard.last()
    assert told.causes == {Cause.SHAPE, Cause.DTYPE}
    assert told.advice.sentence.endswith("Pass x as float32 in every call.")
    step(told.mended(x=np.ones((3, 3), np.int32)))
    assert heard.count() == 2, "the code mends both"


def test_shape_of_one_argument_and_dtype_of_another(heard: Any) -> None:
    step = jax.jit(lambda x, y: x.sum() + y.sum())
    step(X, X)
    step(X[:3], X.astype(np.float16))
    code = heard.last().advice.code
    names = {"jnp": jnp, "np": np, "x": X[:3], "y": X.astype(np.float16)}
    exec(code, names)
    step(names["x"], names["y"])
    assert heard.count() == 2


def test_keys_of_random_numbers(heard: Any) -> None:
    draw = jax.jit(jax.random.normal)
    draw(jax.random.PRNGKey(0))
    draw(jax.random.key(0))
    draw(jax.random.key(0, impl="rbg"))
    sentence = "Make key the same way in every call, with jax.random.key and one implementation."
    assert [told.advice.sentence for told in heard.all("normal")[1:]] == [sentence] * 2


def test_a_setting_by_its_name(heard: Any) -> None:
    step = jax.jit(lambda x: x + 1)
    step(X)
    with jax.numpy_dtype_promotion("strict"):
        step(X)
    told = heard.last()
    assert told.why == "jax_numpy_dtype_promotion is 'strict', was 'standard'"
    assert told.advice.code == "jax.config.update('jax_numpy_dtype_promotion', 'strict')"
