"""Advice as users paste it: what it says to write runs, and mends the recompile."""

from __future__ import annotations

import importlib.util
import re
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

X = np.ones((4, 3), np.float32)


@partial(jax.jit, static_argnames="n")
def decorated(x: Any, n: float) -> Any:
    return x * n


def bound_again(x: Any, n: float) -> Any:
    return x * n


bound_again = jax.jit(bound_again, static_argnames="n")  # type: ignore[assignment]


def plain(x: Any, n: float, m: float) -> Any:
    return x * n * m


def pasted(code: str, **names: Any) -> dict[str, Any]:
    """The user's names after a cell with the advice's code."""
    space = {"jax": jax, "jnp": jnp, "np": np, **names}
    exec(code, space)
    return space


@pytest.mark.parametrize("name", ["decorated", "bound_again"])
def test_a_name_that_is_jitted_is_not_jitted_again(heard: Any, name: str) -> None:
    function = globals()[name]
    function(X, 2.0), function(X, 3.0)
    advice = heard.last(name).advice
    assert "static_argnames" in advice.sentence
    assert not advice.code  # jax.jit of the name would still find n static, and raise


def test_a_plain_name_is_jitted_with_the_statics_that_stay(heard: Any) -> None:
    static = jax.jit(plain, static_argnames=("n", "m"))
    static(X, n=2.0, m=1.0), static(X, n=3.0, m=1.0)
    mended = pasted(heard.last("plain").advice.code, plain=plain)["plain"]
    mended(X, n=2.0, m=1.0)
    before = heard.count()
    mended(X, n=3.0, m=1.0), mended(X, n=4.0, m=1.0)
    assert heard.count() == before


def test_a_static_argument_stays_static_where_the_function_is_hoisted(heard: Any) -> None:
    def shaped(n: int) -> Any:
        return jnp.ones(n)

    for _ in range(2):
        jax.jit(lambda n: shaped(n), static_argnames="n")(n=3)
    assert heard.last("<lambda>").code == "fn = jax.jit(lambda n: ..., static_argnames=('n',))"


def test_the_dtype_that_loses_nothing(heard: Any) -> None:
    shift = jax.jit(lambda x, c: x + c)
    shift(X, 1), shift(X, 0.5)
    told = heard.last()
    assert [(each.what, each.target) for each in told.verdict.differences] == [("c", "jnp.float32")]
    shift(X, np.int32(2)), shift(X, np.float32(2))
    assert told.mended(c=1.5) == 1.5
    assert told.mended(c=np.int32(1)).dtype == jnp.float32
    assert heard.last().advice.code == "jnp.asarray(c, jnp.float32)"


def test_padding_compiles_nothing(heard: Any) -> None:
    total = jax.jit(lambda x: x.sum())
    total(jnp.ones(5)), total(jnp.ones(6))
    told = heard.last()
    values = [jnp.ones(size) for size in (5, 6, 7)]
    count, eager = heard.count(), len(heard.eager("pad") + heard.eager("_pad"))
    for value in values:
        total(told.mended(x=value))
    assert heard.count() == count + 1  # f32[8]
    assert len(heard.eager("pad") + heard.eager("_pad")) == eager
    assert not any(name in told.advice.code for name in ("jnp", "jax"))


def test_what_is_padded_already(heard: Any) -> None:
    total = jax.jit(lambda x: x.sum())
    total(np.ones(8)), total(np.ones(16))
    told = heard.last()
    [difference] = told.verdict.differences
    assert difference.has_bucket_sizes
    count = heard.count()
    total(told.mended(x=np.ones(8)))
    assert heard.count() == count


def test_every_argument_whose_shape_changed(heard: Any) -> None:
    loss = jax.jit(lambda x, y: ((x - y) ** 2).sum())
    for size in (5, 6):
        loss(np.ones(size), np.ones(size))
    advice = heard.last().advice
    assert re.search(r"\bx\b.*\by\b", advice.sentence)
    for size in (5, 7):
        names = pasted(advice.code, x=np.ones(size), y=np.ones(size))
        loss(names["x"], names["y"])
    assert heard.count() == 3


def test_every_argument_whose_dtype_changed(heard: Any) -> None:
    add = jax.jit(lambda x, y: x + y)
    add(X, X), add(X.astype(np.int32), X.astype(np.float16))
    advice = heard.last().advice
    targets = [(each.what, each.target) for each in heard.last().verdict.differences]
    assert targets == [("x", "jnp.float32"), ("y", "jnp.float32")]
    assert re.search(r"\bx\b.*\by\b", advice.sentence)
    names = pasted(advice.code, x=X.astype(np.int32), y=X.astype(np.float16))
    add(names["x"], names["y"])
    assert heard.count() == 2


def test_a_librarys_own_function_is_not_for_the_user_to_edit(heard: Any, tmp_path: Path) -> None:
    file = tmp_path / "site-packages" / "sampler.py"
    file.parent.mkdir()
    file.write_text(
        "import jax\n"
        "def sample(x, scale):\n"
        "    def step(y):\n"
        "        return y * scale\n"
        "    return jax.jit(step)(x)\n"
        "def area(x):\n"
        "    return _area(x)\n"
        "@jax.jit\n"
        "def _area(x):\n"
        "    return x.sum()\n"
        "def users(x):\n"
        "    return x * 3\n"
    )
    spec = importlib.util.spec_from_file_location("sampler", file)
    assert spec and spec.loader
    sampler: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sampler)
    for scale in (2.0, 3.0):
        sampler.sample(X, scale)
    for size in (3, 5):
        sampler.area(np.ones(size))
    for name in ("step", "_area"):
        advice = heard.last(name).advice
        assert "sampler" in advice.sentence and name not in advice.sentence
        assert not advice.code
    for _ in range(2):
        jax.jit(lambda x: sampler.users(x))(X)
    assert heard.last("<lambda>").advice.code
    for size in (3, 5):
        jax.jit(sampler.users)(np.ones(size))
    assert heard.last("users").advice.code.startswith("np.pad(x")  # the user jits it and calls it


def _optimizer(rate: float) -> Any:
    def scaled(x: Any) -> Any:
        return x * -rate

    return (lambda x: scaled(x) + 1,)


def test_a_value_inside_a_captured_function_is_named(heard: Any) -> None:
    for rate in (0.003, 0.01):
        jax.jit(_stepping(_optimizer(rate)[0]))(X)
    told = heard.last("step")
    assert ("rate in update", "0.003", "0.01") in told.changes
    assert not told.advice.code and "rate" in told.advice.sentence


def _stepping(update: Any) -> Any:
    def step(x: Any) -> Any:
        return update(x)

    return step


def test_a_captured_function_made_anew_with_equal_values(heard: Any) -> None:
    for _ in range(2):
        jax.jit(_stepping(_optimizer(0.1)[0]))(X)
    told = heard.last("step")
    assert ("update", "function", "function") in told.changes and "rate" not in told.why
    assert "update" in told.advice.sentence and not told.advice.code


def test_a_learning_rate_of_optax(heard: Any) -> None:
    optax = pytest.importorskip("optax")
    for rate in (0.003, 0.01):
        opt = optax.adam(rate)
        state = opt.init(X)
        jax.jit(lambda x, state: opt.update(x, state))(X, state)  # noqa: B023
    told = heard.last("<lambda>")
    assert ("step_size in opt.update", "-0.003", "-0.01") in told.changes
    assert "optax.inject_hyperparams" in told.advice.sentence and not told.advice.code
    opt = optax.inject_hyperparams(optax.adam)(learning_rate=0.003)
    state = opt.init(X)
    step = jax.jit(lambda x, state: opt.update(x, state))
    step(X, state)
    count = heard.count()
    state.hyperparams["learning_rate"] = jnp.float32(0.01)
    step(X, state)
    assert heard.count() == count
