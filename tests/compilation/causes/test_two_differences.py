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
    assert "float32" in told.advice.sentence
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


def test_a_new_function_and_the_shape_of_its_argument(heard: Any) -> None:
    for size in (3, 4):
        jax.jit(lambda x: x * 2)(np.ones(size, np.float32))
    assert heard.last().causes == {Cause.MADE_ANEW, Cause.SHAPE}
    once, pad = heard.last().code.splitlines()
    assert once == "fn = jax.jit(lambda x: ...)"
    fn = eval(once.partition("=")[2].replace("...", "x * 2"), {"jax": jax})
    before = heard.count()
    for size in (3, 4):
        fn(eval(pad, {"np": np, "x": np.ones(size, np.float32)}))
    assert heard.count() == before + 1, "the code mends both: one function, one shape"


def test_a_new_function_of_another_value_and_shape(heard: Any) -> None:
    for size, scale in ((3, 1.0), (4, 2.0)):
        jax.jit(lambda x: x * scale)(np.ones(size, np.float32))  # noqa: B023
    function, shape = heard.last().advice.sentence.split(". ")[:2]
    assert "scale" in function and "x" in shape and "scale" not in shape


def test_keys_of_random_numbers(heard: Any) -> None:
    draw = jax.jit(jax.random.normal)
    draw(jax.random.PRNGKey(0))
    draw(jax.random.key(0))
    draw(jax.random.key(0, impl="rbg"))
    sentences = [told.advice.sentence for told in heard.all("normal")[1:]]
    assert len(sentences) == 2 and all("jax.random.key" in sentence for sentence in sentences)


def test_a_setting_by_its_name(heard: Any) -> None:
    step = jax.jit(lambda x: x + 1)
    step(X)
    with jax.numpy_dtype_promotion("strict"):
        step(X)
    told = heard.last()
    assert (told.cause, told.changes) == (Cause.CONFIG, [("jax_numpy_dtype_promotion", "'standard'", "'strict'")])
    assert told.advice.code == "jax.config.update('jax_numpy_dtype_promotion', 'strict')"
