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


def test_a_new_function_and_the_shape_of_its_argument(heard: Any) -> None:
    for size in (3, 4):
        jax.jit(lambda x: x * 2)(np.ones(size, np.float32))
    advice = heard.last().advice
    assert advice.sentence.startswith("Make the function and jit it once, outside the loop or the function that makes")
    assert "Pad x to a fixed shape" in advice.sentence
    once, pad = advice.code.splitlines()
    assert once == "fn = jax.jit(lambda x: ...)  # once, outside the loop"
    fn = eval(once.partition("=")[2].replace("...", "x * 2"), {"jax": jax})
    before = heard.count()
    for size in (3, 4):
        fn(eval(pad, {"np": np, "x": np.ones(size, np.float32)}))
    assert heard.count() == before + 1, "the code mends both: one function, one shape"


def test_a_new_function_of_another_value_and_shape(heard: Any) -> None:
    for size, scale in ((3, 1.0), (4, 2.0)):
        jax.jit(lambda x: x * scale)(np.ones(size, np.float32))  # noqa: B023
    assert heard.last().advice.sentence.startswith("Pass scale as an argument instead of capturing it. Pad x to")


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
