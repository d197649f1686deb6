"""Recompiles because of arguments: each cause, its twin that looks alike and is not, and advice that mends it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext.compilation.causes.cause import Cause

X = np.ones(4, np.float32)


def test_shape_is_named_with_both_types(heard: Any) -> None:
    @jax.jit
    def step(params: Any, batch: Any) -> Any:
        return params["w"] * batch.sum()

    params = {"w": X}
    step(params, np.ones((8, 3), np.float32))
    step(params, np.ones((6, 3), np.float32))
    told = heard.last("step")
    assert heard.causes("step") == [Cause.FIRST, Cause.SHAPE]
    assert told.changes == [("batch", "f32[8,3]", "f32[6,3]")]
    assert told.verdict.can_be_mended and not told.verdict.is_wasted
    padded = told.mended(batch=np.ones((7, 3), np.float32))
    assert padded.shape == (8, 3)
    step(params, padded)
    assert heard.count() == 2


def test_same_shape_with_other_values_does_not_compile(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    for value in (X, X * 3, jnp.asarray(X)):
        step(value)
    assert heard.causes() == [Cause.FIRST]


def test_the_nearest_earlier_call_is_the_one_compared_with(heard: Any) -> None:
    @jax.jit
    def step(x: Any, y: Any) -> Any:
        return x.sum() + y.sum()

    step(np.ones(3), np.ones(3, np.int32))
    step(np.ones(5), np.ones((2, 2), np.float32))
    step(np.ones(5), np.ones(3, np.int32))
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.SHAPE, [("x", "f32[3]", "f32[5]")])
    assert told.verdict.nearest == heard.all("step")[0].record.number


def test_dtype(heard: Any) -> None:
    @jax.jit
    def step(x: Any) -> Any:
        return x + 1

    step(X)
    step(X.astype(np.int32))
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.DTYPE, [("x", "float32", "int32")])
    step(told.mended(x=X.astype(np.int32)))
    assert heard.count() == 2


def test_several_differences_are_all_told(heard: Any) -> None:
    step = jax.jit(lambda x, y: x.sum() + y.sum())
    step(X, X)
    step(np.ones((2, 2), np.float32), X.astype(np.int32))
    told = heard.last()
    assert told.causes == {Cause.SHAPE, Cause.DTYPE}
    assert told.changes == [("x", "f32[4]", "f32[2,2]"), ("y", "float32", "int32")]


def test_many_differences_are_counted(heard: Any) -> None:
    step = jax.jit(lambda leaves: sum(x.sum() for x in leaves))
    step([np.ones(3, np.float32)] * 40)
    step([np.ones(5, np.float32)] * 40)
    told = heard.last()
    assert told.changes == [(f"leaves[{n}]", "f32[3]", "f32[5]") for n in range(len(told.changes))]
    assert len(told.changes) + told.verdict.more == 40
    assert "leaves[2]" in told.why and "leaves[3]" not in told.why and "37 " in told.why


def test_weak_type_of_a_python_scalar(heard: Any) -> None:
    @jax.jit
    def step(x: Any, lr: Any) -> Any:
        return x * lr

    step(X, jnp.float32(0.1))
    step(X, 0.1)
    told = heard.last("step")
    assert told.cause is Cause.WEAK_TYPE
    assert told.changes == [("lr", "strongly typed float32", "weakly typed float32, a Python float")]
    step(X, told.mended(lr=0.1))
    assert heard.count() == 2


def test_another_value_of_a_python_scalar_does_not_compile(heard: Any) -> None:
    step = jax.jit(lambda x, lr: x * lr)
    for lr in (0.1, 0.2, 3.0):
        step(X, lr)
    assert heard.causes() == [Cause.FIRST]


def test_a_python_int_for_a_float_is_a_change_of_dtype(heard: Any) -> None:
    step = jax.jit(lambda x, lr: x * lr)
    step(X, 0.1)
    step(X, 1)
    assert heard.last().cause is Cause.DTYPE
    assert heard.last().changes == [("lr", "float32", "int32")]


def test_a_weak_array_is_not_taken_for_a_python_scalar(heard: Any) -> None:
    step = jax.jit(lambda lr: lr * 2)
    step(jnp.float32(1))
    step(jnp.asarray(1.0))
    assert (heard.last().cause, heard.last().changes) == (
        Cause.WEAK_TYPE,
        [("lr", "strongly typed float32", "weakly typed float32")],
    )
    step(heard.last().mended(lr=jnp.asarray(1.0)))
    assert heard.count() == 2


def test_a_list_for_a_tuple(heard: Any) -> None:
    @jax.jit
    def step(xs: Any) -> Any:
        return xs[0] + xs[1]

    step((X, X))
    step([X, X])
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.PYTREE, [("xs", "tuple", "list")])
    step(told.mended(xs=[X, X]))
    assert heard.count() == 2


def test_keys_that_came_and_went(heard: Any) -> None:
    step = jax.jit(lambda params: sum(x.sum() for x in jax.tree.leaves(params)))
    step({"w": [X], "b": X})
    step({"w": [X], "c": X})
    assert heard.last().cause is Cause.PYTREE
    assert heard.last().changes == [("params['c']", "", "f32[4]"), ("params['b']", "f32[4]", "")]


def test_the_order_of_a_dict_does_not_compile(heard: Any) -> None:
    step = jax.jit(lambda params: params["a"] + params["b"])
    step({"a": X, "b": X})
    step({"b": X, "a": X})
    assert heard.causes() == [Cause.FIRST]


def test_none_for_an_array(heard: Any) -> None:
    @jax.jit
    def step(x: Any, mask: Any) -> Any:
        return x if mask is None else x * mask

    step(X, X)
    step(X, None)
    assert (heard.last().cause, heard.last().changes) == (Cause.PYTREE, [("mask", "f32[4]", "None")])


def test_a_longer_list_is_a_change_of_pytree_and_not_of_shape(heard: Any) -> None:
    step = jax.jit(lambda xs: sum(xs))
    step([X, X])
    step([X, X, X])
    assert (heard.last().cause, heard.last().changes) == (Cause.PYTREE, [("xs[2]", "", "f32[4]")])


def test_keyword_instead_of_positional(heard: Any) -> None:
    @jax.jit
    def step(x: Any, n: Any) -> Any:
        return x * n

    step(X, 2.0)
    step(X, n=2.0)
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.ARGUMENT_FORM, [("n", "positional", "keyword")])
    assert told.advice.code == "step(x, n)"
    told.mended(step=step, x=X, n=2.0)
    assert heard.count() == 2


def test_the_order_of_keywords_does_not_compile(heard: Any) -> None:
    step = jax.jit(lambda *, x, n: x * n)
    step(x=X, n=2.0)
    step(n=2.0, x=X)
    assert heard.causes() == [Cause.FIRST]


def test_a_default_given_explicitly(heard: Any) -> None:
    @jax.jit
    def step(x: Any, scale: Any = 1.0) -> Any:
        return x * scale

    step(X)
    step(X, 1.0)
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.ARGUMENT_FORM, [("scale", "", "f32[]")])
    assert told.verdict.differences[0].target == "1.0"
    assert told.advice.code == "step(x, scale)"
    told.mended(step=step, x=X, scale=1.0)
    assert heard.count() == 2


def test_a_default_left_out(heard: Any) -> None:
    @jax.jit
    def step(x: Any, scale: Any = 1.0) -> Any:
        return x * scale

    step(X, scale=1.0)
    step(X)
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.ARGUMENT_FORM, [("scale", "f32[]", "")])
    assert told.verdict.differences[0].target == "1.0"
    told.mended(step=step, x=X, scale=1.0)
    assert heard.count() == 2


def test_another_value_for_an_argument_with_a_default_does_not_compile(heard: Any) -> None:
    step = jax.jit(lambda x, scale=1.0: x * scale)
    step(X, 1.0)
    step(X, 5.0)
    assert heard.causes() == [Cause.FIRST]


def test_arguments_beyond_the_named_ones_have_the_rest_parameter_for_a_name(heard: Any) -> None:
    step = jax.jit(lambda x, *rest: x + sum(r.sum() for r in rest))
    step(X, X, X)
    step(X, X, np.ones(5, np.float32))
    assert (heard.last().cause, heard.last().changes) == (Cause.SHAPE, [("rest[1]", "f32[4]", "f32[5]")])


def test_fields_of_a_registered_class_are_named(heard: Any) -> None:
    import dataclasses

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class State:
        weights: Any
        step: Any

    update = jax.jit(lambda state: jax.tree.map(lambda x: x + 1, state))
    update(State({"w": X}, 1))
    update(State({"w": X[:2]}, 1))
    assert (heard.last().cause, heard.last().changes) == (Cause.SHAPE, [("state.weights['w']", "f32[4]", "f32[2]")])
