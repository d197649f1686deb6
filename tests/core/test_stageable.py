"""A plain function is traced anew at each inspection; its name, its frames and its errors stay its own."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage.stageable import stageable

X = np.arange(1, 5, dtype=np.float32)
NAMESPACE: dict[str, Any] = {}


class Model:
    def __init__(self) -> None:
        self.scale = 2.0

    def __call__(self, x):
        return x * self.scale

    def apply(self, x):
        return x * self.scale


class Unhashable(Model):
    __hash__ = None


def _closure() -> tuple[Callable[..., Any], Callable[[], None]]:
    scale = 2.0

    def fn(x):
        return x * scale

    def change() -> None:
        nonlocal scale
        scale = 3.0

    return fn, change


def _global() -> tuple[Callable[..., Any], Callable[[], None]]:
    exec("k = 2.0\ndef fn(x): return x * k", NAMESPACE)
    return NAMESPACE["fn"], lambda: NAMESPACE.update(k=3.0)


def _function_named_by_it() -> tuple[Callable[..., Any], Callable[[], None]]:
    exec("def inner(x): return x * 2\ndef fn(x): return inner(x)", NAMESPACE)
    return NAMESPACE["fn"], lambda: exec("def inner(x): return x * 3", NAMESPACE)


def _mutated_constant() -> tuple[Callable[..., Any], Callable[[], None]]:
    held = np.full(4, 2, np.float32)
    return lambda x: x * held, lambda: held.fill(3)


def _mutated_list() -> tuple[Callable[..., Any], Callable[[], None]]:
    held = [1.0]
    return lambda x: x * sum(held), lambda: held.append(1.0)


def _default() -> tuple[Callable[..., Any], Callable[[], None]]:
    def fn(x, scale=2.0):
        return x * scale

    return fn, lambda: setattr(fn, "__defaults__", (3.0,))


def _code_replaced_by_autoreload() -> tuple[Callable[..., Any], Callable[[], None]]:
    def fn(x):
        return x * 2

    return fn, lambda: setattr(fn, "__code__", (lambda x: x * 3).__code__)


def _attribute(make: Callable[[Model], Callable[..., Any]], model: type[Model] = Model) -> Any:
    held = model()
    return make(held), lambda: setattr(held, "scale", 3.0)


def _derivative_rule(kind: str) -> tuple[Callable[..., Any], Callable[[], None]]:
    @getattr(jax, kind)
    def square(x):
        return x * x

    def define(factor: float) -> None:
        if kind == "custom_vjp":
            square.defvjp(lambda x: (square(x), x), lambda x, ct: (factor * x * ct,))
        else:
            square.defjvp(lambda primals, tangents: (square(*primals), factor * primals[0] * tangents[0]))

    define(2.0)
    return jax.grad(lambda x: square(x).sum()), lambda: define(5.0)


WAYS: dict[str, Callable[[], tuple[Callable[..., Any], Callable[[], None]]]] = {
    "a closure": _closure,
    "a global": _global,
    "a function that it calls": _function_named_by_it,
    "an array mutated in place": _mutated_constant,
    "a list": _mutated_list,
    "a default argument": _default,
    "its code, as autoreload replaces it": _code_replaced_by_autoreload,
    "an attribute, through a method": lambda: _attribute(lambda model: model.apply),
    "an attribute, through a callable object": lambda: _attribute(lambda model: model),
    "an attribute, through a partial": lambda: _attribute(lambda model: functools.partial(Model.apply, model)),
    "an attribute, through vmap": lambda: _attribute(lambda model: jax.vmap(model)),
    "an attribute, through a derivative": lambda: _attribute(lambda model: jax.grad(lambda x: model(x).sum())),
    "an attribute of what cannot be hashed": lambda: _attribute(lambda model: model.apply, Unhashable),
    "a derivative rule of custom_vjp": lambda: _derivative_rule("custom_vjp"),
    "a derivative rule of custom_jvp": lambda: _derivative_rule("custom_jvp"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_has_changed_since_the_last_inspection_shows(way: str) -> None:
    fn, change = WAYS[way]()
    before = inspect(fn, X)
    expected = np.asarray(fn(X))
    np.testing.assert_allclose(before.execute(), expected)
    change()
    after = inspect(fn, X)
    np.testing.assert_allclose(after.execute(), np.asarray(fn(X)))
    assert not np.allclose(fn(X), expected)
    assert after.program.staged.stages[0].hit is None


def test_an_equal_module_is_not_compiled_twice() -> None:
    def fn(x):
        return jnp.sin(x) * 7.25

    notes = [inspect(fn, X).summary()["stages"][-1]["note"] for _ in range(2)]
    assert notes[0] is None
    assert notes[1] is not None and notes[1].startswith("cached")


def _of_two(x, scale=1.0, *, shift=0.0):
    return jnp.sin(x) * scale + shift


KINDS: dict[str, Callable[..., Any]] = {
    "function": _of_two,
    "lambda": lambda x: x * 2,
    "method": Model().apply,
    "callable object": Model(),
    "partial": functools.partial(_of_two, scale=2.0),
    "keyword-only partial": functools.partial(_of_two, shift=2.0),
    "pytree partial": jax.tree_util.Partial(_of_two, scale=3.0),
    "grad": jax.grad(lambda x: _of_two(x).sum()),
    "vmap": jax.vmap(_of_two),
    "checkpoint": jax.checkpoint(_of_two),
    "hessian": jax.hessian(lambda x: _of_two(x).sum()),
    "jax.numpy": jnp.sum,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_module_is_the_one_that_jax_gives_names_and_frames_included(kind: str) -> None:
    made = []
    for jitted in (jax.jit(KINDS[kind]), stageable(Call(KINDS[kind], (X,)))):
        traced = jitted.trace(X)
        made.append((traced.lower().as_text(debug_info=True), traced.jaxpr.jaxpr.debug_info.func_src_info))
    assert made[0] == made[1]


def test_static_and_donated_arguments_keep_their_names() -> None:
    def fn(x, n, y):
        return x * n + y

    jitted = stageable(Call(fn, (X, 3, X), jit={"static_argnames": "n", "donate_argnames": "y"}))
    assert "tf.aliasing_output" in jitted.trace(X, 3, X).lower().as_text()


@pytest.mark.parametrize("fn", [staticmethod(_of_two), 3])
def test_what_jax_refuses_is_still_refused(fn: Any) -> None:
    with pytest.raises(TypeError):
        inspect(fn, X)


def test_an_error_names_the_function_without_its_address() -> None:
    with pytest.raises(TypeError, match="argument to _of_two as an abstract array"):
        inspect(_of_two, object())


def test_inspections_leave_no_function_behind() -> None:
    def fn(x):
        return x + 1

    made = weakref.ref(stageable(Call(fn, (X,))).__wrapped__)
    inspect(fn, X, stage="lower")
    known = weakref.ref(fn)
    del fn
    gc.collect()
    assert made() is None and known() is None
