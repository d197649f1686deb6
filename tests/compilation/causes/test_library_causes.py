"""Recompiles through libraries that jit wrappers of their own: told in the names of the user's function."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.compilation.causes.cause import Cause

X = np.ones((4, 3), np.float32)


@pytest.fixture
def equinox() -> Any:
    return pytest.importorskip("equinox")


@pytest.fixture
def nnx() -> Any:
    return pytest.importorskip("flax.nnx")


@pytest.fixture
def net(equinox: Any) -> Any:
    class Net(equinox.Module):
        w: Any
        act: Any = equinox.field(static=True)
        n: int = 2

        def __call__(self, x: Any) -> Any:
            return self.act(x @ self.w) * self.n

    return Net


def test_filter_jit_names_the_users_arguments(equinox: Any, net: Any, heard: Any) -> None:
    @equinox.filter_jit
    def run(model: Any, x: Any, scale: Any = 1.0) -> Any:
        return model(x) * scale

    model = net(jnp.ones((3, 2)), jnp.tanh)
    run(model, X)
    for call, cause, changes in (
        (lambda: run(model, X[:2]), Cause.SHAPE, [("x", "f32[4,3]", "f32[2,3]")]),
        (lambda: run(net(jnp.ones((3, 5)), jnp.tanh), X), Cause.SHAPE, [("model.w", "f32[3,2]", "f32[3,5]")]),
        (lambda: run(net(jnp.ones((3, 2)), jnp.tanh, 3), X), Cause.STATIC_VALUE, [("model.n", "2", "3")]),
        (lambda: run(model, X, 2.0), Cause.STATIC_VALUE, [("scale", "1.0", "2.0")]),
    ):
        call()
        told = heard.last("run")
        assert (told.cause, told.changes) == (cause, changes)
    assert told.advice.code == "jnp.asarray(scale)"
    run(model, X, jnp.asarray(2.0))
    count = heard.count()
    run(model, X, jnp.asarray(3.0))
    assert heard.count() == count


@pytest.mark.parametrize(
    "values", [(0.1, jnp.float32(0.3), 0.2), (jnp.float32(0.3), 0.1, 0.2), (2, 0.5, 3), (2, jnp.float32(0.5), 0.1)]
)
def test_a_number_as_an_array_is_one_program_with_the_arrays_of_other_calls(
    equinox: Any, heard: Any, values: tuple[Any, ...]
) -> None:
    """`jnp.asarray` of a Python float is weakly typed: beside a float32 array it would be another program."""

    def scaled(x: Any, scale: Any) -> Any:
        return x * scale

    run = equinox.filter_jit(scaled)
    run(X, values[0]), run(X, values[1])
    code = heard.last("scaled").advice.code
    mended = [eval(code, {"jnp": jnp, "scale": value}) for value in values]
    other = equinox.filter_jit(lambda x, scale: x * scale)
    other(X, mended[0])
    count = heard.count()
    other(X, mended[1]), other(X, mended[2])
    assert heard.count() == count


def test_equal_modules_do_not_compile(equinox: Any, net: Any, heard: Any) -> None:
    run = equinox.filter_jit(lambda model, x: model(x))
    run(net(jnp.ones((3, 2)), jnp.tanh), X)
    run(net(jnp.zeros((3, 2)), jnp.tanh), X)
    assert heard.causes("<lambda>") == [Cause.FIRST]


def test_filter_jit_of_a_lambda_in_a_loop(equinox: Any, heard: Any) -> None:
    for _ in range(2):
        equinox.filter_jit(lambda v: v * 2)(X)
    told = heard.last("<lambda>")
    assert (told.cause, told.verdict.is_wasted) == (Cause.MADE_ANEW, True)
    assert told.code == "fn = equinox.filter_jit(lambda v: ...)"


def test_nnx_jit_names_the_users_arguments(nnx: Any, heard: Any) -> None:
    @nnx.jit
    def forward(model: Any, x: Any) -> Any:
        return model(x)

    model = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
    forward(model, X)
    forward(model, X[:2])
    assert (heard.last("forward").cause, heard.last("forward").changes) == (
        Cause.SHAPE,
        [("x", "f32[4,3]", "f32[2,3]")],
    )
    model.eval()
    forward(model, X)
    assert (heard.last("forward").cause, heard.last("forward").changes) == (
        Cause.STATIC_VALUE,
        [("model.deterministic", "False", "True")],
    )


def test_nnx_jit_of_the_same_model_does_not_compile(nnx: Any, heard: Any) -> None:
    forward = nnx.jit(lambda model, x: model(x))
    for seed in (0, 1):
        forward(nnx.Linear(3, 2, rngs=nnx.Rngs(seed)), X)
    assert heard.causes("<lambda>") == [Cause.FIRST]


def test_optax_state_of_numpy_and_of_jax_is_one_program(heard: Any) -> None:
    optax = pytest.importorskip("optax")
    optimiser = optax.adam(1e-3)
    params = {"w": jnp.ones(3)}

    @jax.jit
    def update(params: Any, state: Any, grads: Any) -> Any:
        changes, state = optimiser.update(grads, state, params)
        return optax.apply_updates(params, changes), state

    params, state = update(params, optimiser.init(params), {"w": np.ones(3, np.float32)})
    update(params, state, {"w": jnp.ones(3)})
    assert heard.causes("update") == [Cause.FIRST]
    update({"w": params["w"].astype(jnp.bfloat16)}, state, {"w": jnp.ones(3)})
    assert heard.last("update").changes == [("params['w']", "float32", "bfloat16")]
