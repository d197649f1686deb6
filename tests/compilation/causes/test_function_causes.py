"""Recompiles because JAX was given another function object, and those that only look like it."""

from __future__ import annotations

import dataclasses
import functools
import gc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.compilation.causes.cause import Cause

X = np.ones(4, np.float32)


def run_cell(source: str, number: int, names: dict[str, Any]) -> None:
    exec(compile(source, f"<cell {number}>", "exec"), names)


STEP = "import jax\n@jax.jit\ndef step(x):\n    return x * {scale}\nstep(x)\n"


def test_a_cell_run_again(heard: Any) -> None:
    names = {"x": X, "__name__": "__main__"}
    for number in (1, 2):
        run_cell(STEP.format(scale=2), number, names)
    told = heard.last("step")
    assert heard.causes("step") == [Cause.FIRST, Cause.CELL_RUN_AGAIN]
    assert told.verdict.is_wasted and told.verdict.can_be_mended
    assert told.changes == [("step", "step", "step")]
    run_cell("step(x)", 3, names)  # the advice: only the call
    assert heard.count() == 2


def test_a_cell_run_again_with_moved_code(heard: Any) -> None:
    names = {"x": X, "__name__": "__main__"}
    run_cell(STEP.format(scale=2), 1, names)
    run_cell("# a comment\n\n" + STEP.format(scale=2), 2, names)
    assert heard.last("step").cause is Cause.CELL_RUN_AGAIN


@pytest.mark.parametrize("scale", ["3", "2.0", "True", "(2 + x.sum())"])
def test_a_function_redefined_with_other_code(heard: Any, scale: str) -> None:
    names = {"x": X, "__name__": "__main__"}
    run_cell(STEP.format(scale=2), 1, names)
    run_cell(STEP.format(scale=scale), 1, names)
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.REDEFINED, [("step", "step", "step")])
    assert not told.verdict.can_be_mended
    assert told.verdict.is_wasted == (scale == "2.0")  # the same program, as JAX's cache key tells


def test_a_cell_run_again_with_another_global_is_not_wasted(heard: Any) -> None:
    cell = "import jax\nscale = {}\n@jax.jit\ndef step(x):\n    return x * scale\nstep(x)\n"
    names = {"x": X, "__name__": "__main__"}
    run_cell(cell.format(2), 1, names)
    run_cell(cell.format(3), 2, names)
    told = heard.last("step")
    assert told.cause is Cause.CELL_RUN_AGAIN
    assert told.changes[1:] == [("scale", "2", "3")]
    assert not told.verdict.is_wasted


def test_a_lambda_in_a_loop(heard: Any) -> None:
    for _ in range(3):
        jax.jit(lambda v: v * 2)(X)
        gc.collect()  # the next lambda may get the id of this one
    assert heard.causes() == [Cause.FIRST, Cause.MADE_ANEW, Cause.MADE_ANEW]
    assert all(told.verdict.is_wasted for told in heard.all()[1:])
    assert heard.last().code == "fn = jax.jit(lambda v: ...)"


def test_one_lambda_jitted_anew_does_not_compile(heard: Any) -> None:
    double = lambda v: v * 2  # noqa: E731
    for _ in range(3):
        jax.jit(double)(X)
    assert heard.causes() == [Cause.FIRST]


def test_another_lambda_is_not_compared_with_an_unrelated_one(heard: Any) -> None:
    jax.jit(lambda v: v * 2)(X)
    jax.jit(lambda v: v + 3)(X)
    assert heard.causes() == [Cause.FIRST, Cause.FIRST]


def test_a_lambda_in_a_loop_that_captures_the_loop_variable(heard: Any) -> None:
    for lr in (0.1, 0.2):
        jax.jit(lambda v: v * lr)(X)  # noqa: B023
    told = heard.last()
    assert told.cause is Cause.MADE_ANEW
    assert told.changes == [("<lambda>", "<lambda>", "<lambda>"), ("lr", "0.1", "0.2")]
    assert not told.verdict.is_wasted
    assert told.code == "fn = jax.jit(lambda v, lr: ...)"


def test_a_new_function_with_another_shape_is_not_blamed_for_the_function_alone(heard: Any) -> None:
    for size in (2, 3, 2):
        jax.jit(lambda v: v * 2)(np.ones(size, np.float32))
    first, second, third = heard.all()
    assert second.cause is Cause.SHAPE
    assert third.cause is Cause.MADE_ANEW
    assert third.verdict.nearest == first.record.number


def make_step(scale: Any) -> Any:
    def step(x: Any) -> Any:
        return x * scale

    return jax.jit(step)


def test_a_function_made_by_another(heard: Any) -> None:
    make_step(2)(X)
    make_step(2)(X)
    make_step(3)(X)
    _, second, third = heard.all("step")
    assert (second.cause, second.verdict.is_wasted) == (Cause.MADE_ANEW, True)
    assert third.changes == [("step", "step", "step"), ("scale", "2", "3")]
    assert third.code == "@jax.jit\ndef step(x, scale): ..."


def test_a_captured_array_is_compared_by_identity(heard: Any) -> None:
    make_step(jnp.float32(2))(X)
    make_step(jnp.float32(2))(X)
    assert heard.last("step").changes[1:] == [("scale", "f32[]", "f32[]")]


def power(x: Any, n: Any) -> Any:
    return x**n


def test_a_partial_made_anew(heard: Any) -> None:
    for n in (2, 2, 3):
        jax.jit(functools.partial(power, n=n))(X)
    _, second, third = heard.all("power")
    assert (second.cause, second.verdict.is_wasted) == (Cause.PARTIAL_MADE_ANEW, True)
    assert second.changes == [("functools.partial(power)", "functools.partial(power)", "functools.partial(power)")]
    assert second.advice.code.startswith("power_partial = jax.jit(functools.partial(power, n=2))")
    assert third.changes[1:] == [("n", "2", "3")]


def test_one_partial_does_not_compile_twice(heard: Any) -> None:
    square = functools.partial(power, n=2)
    jax.jit(square)(X)
    jax.jit(square)(X)
    assert heard.causes() == [Cause.FIRST]


class Model:
    """What users write."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def forward(self, x: Any) -> Any:
        return x * self.scale


def test_a_bound_method_read_anew(heard: Any) -> None:
    model = Model(2.0)
    jax.jit(model.forward)(X)
    jax.jit(model.forward)(X)
    told = heard.last("forward")
    assert (told.cause, told.verdict.is_wasted) == (Cause.METHOD_MADE_ANEW, True)
    assert told.code == "forward = jax.jit(model.forward)"
    forward = jax.jit(model.forward)
    forward(X), forward(X)
    assert heard.count() == 3


def test_a_method_of_a_new_object(heard: Any) -> None:
    jax.jit(Model(2.0).forward)(X)
    jax.jit(Model(3.0).forward)(X)
    told = heard.last("forward")
    assert told.cause is Cause.METHOD_MADE_ANEW
    assert told.changes[1:] == [("self.scale", "2.0", "3.0")]
    assert not told.verdict.is_wasted
    assert "jax.jit(Model.forward)" in told.advice.code


def test_the_advice_for_a_method_of_a_new_object_mends_it(heard: Any) -> None:
    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class Scaled:
        scale: float

        def forward(self, x: Any) -> Any:
            return x * self.scale

    forward = jax.jit(Scaled.forward)
    forward(Scaled(2.0), X), forward(Scaled(3.0), X)
    assert heard.causes() == [Cause.FIRST]


def test_a_gradient_made_anew(heard: Any) -> None:
    def loss(w: Any) -> Any:
        return (w**2).sum()

    for _ in range(2):
        jax.jit(jax.grad(loss))(X)
    told = heard.last("loss")
    assert (told.cause, told.verdict.is_wasted) == (Cause.MADE_ANEW, True)
    assert told.changes == [("jax.grad(loss)", "jax.grad(loss)", "jax.grad(loss)")]
    assert told.code == "grad_loss = jax.jit(jax.grad(loss))"


def test_a_scan_outside_jit_with_a_body_made_anew(heard: Any) -> None:
    for scale in (2, 2, 3):
        jax.lax.scan(lambda carry, x: (carry * scale + x, None), jnp.float32(0), X)  # noqa: B023
    told = heard.eager("scan")
    assert [judged.cause for judged in told] == [Cause.EAGER] * 3
    assert [judged.verdict.is_wasted for judged in told] == [False, True, False]
    assert "jax.lax.scan" in told[1].advice.sentence
