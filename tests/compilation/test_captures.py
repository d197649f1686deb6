"""The log keeps nothing alive that a program captured: each way of capturing, by weak references.

The right value is plain JAX's: without the log, all of these go with their last name, or with `jax.clear_caches()`.
"""

from __future__ import annotations

import functools
import gc
import time
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.core.jax_private.effect_rules import called_by
from jaxstage_ext.core.jax_private.outlined_jaxprs import outlined
from jaxstage_ext.program.kinds.logged_program import logged_program
from tests.helpers.heard_compiles import Heard, heard_compiles

X = np.ones(4, np.float32)
_Function = Callable[[Any], Any]


class Model:
    """What a user trains."""

    def __init__(self) -> None:
        self.a = np.ones(1000, np.float32)

    def log(self, value: Any) -> None:
        pass

    def read(self, value: Any) -> Any:
        return np.asarray(value) * self.a[0]


@jax.tree_util.register_pytree_node_class
class Node:
    """A pytree node whose static part is a model."""

    def __init__(self, x: Any, aux: Any) -> None:
        self.x, self.aux = x, aux

    def tree_flatten(self) -> Any:
        return (self.x,), self.aux

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Node:
        return cls(children[0], aux)


def logged(model: Model, value: Any) -> Any:
    jax.debug.callback(model.log, value)
    return value


def pure(model: Model, value: Any) -> Any:
    return jax.pure_callback(model.read, value, value)


def with_vjp(model: Model) -> _Function:
    function = jax.custom_vjp(lambda v: v * 2)
    function.defvjp(lambda v: (v * 2, None), lambda rest, g: (g * model.a[0],))
    return function  # type: ignore[no-any-return]


def with_jvp(model: Model) -> _Function:
    function = jax.custom_jvp(lambda v: v * 2)
    function.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0] * model.a[0]))
    return function  # type: ignore[no-any-return]


def remat(model: Model) -> _Function:
    def policy(*args: Any, **params: Any) -> bool:
        return model is None

    return lambda v: jax.checkpoint(lambda u: jnp.sin(jnp.sin(u)), policy=policy)(v).sum()


def partitioned(model: Model) -> _Function:
    from jax.experimental.custom_partitioning import custom_partitioning

    def partition(mesh: Any, arguments: Any, result: Any) -> Any:
        return mesh, lambda v: v * model.a[0], result.sharding, (arguments[0].sharding,)

    function: Any = custom_partitioning(lambda v: v * 2)
    function.def_partition(
        partition=partition,
        infer_sharding_from_operands=lambda mesh, arguments, result: arguments[0].sharding,
        sharding_rule="i -> i",
    )
    return lambda v: function(v)


WAYS: dict[str, Callable[[Model], _Function]] = {
    "pure_callback": lambda m: lambda v: pure(m, v),
    "a closure in pure_callback": lambda m: lambda v: jax.pure_callback(lambda u: m.read(u), v, v),
    "io_callback": lambda m: lambda v: io_callback(m.read, v, v),
    "an ordered io_callback": lambda m: lambda v: io_callback(m.read, v, v, ordered=True),
    "debug.callback's method": lambda m: lambda v: logged(m, v),
    "debug.callback's closure": lambda m: lambda v: (jax.debug.callback(lambda u: m.log(u), v), v)[1],
    "debug.callback's partial": lambda m: lambda v: (jax.debug.callback(functools.partial(Model.log, m), v), v)[1],
    "custom_vjp": lambda m: lambda v: with_vjp(m)(v),
    "the gradient of a custom_vjp": lambda m: jax.grad(lambda v: with_vjp(m)(v).sum()),
    "custom_jvp": lambda m: lambda v: with_jvp(m)(v),
    "the gradient of a custom_jvp": lambda m: jax.grad(lambda v: with_jvp(m)(v).sum()),
    "a checkpoint policy": remat,
    "a checkpoint policy's gradient": lambda m: jax.grad(remat(m)),
    "a view of a NumPy array": lambda m: lambda v: v + m.a[:4],
    "an array": lambda m: lambda v: v + jnp.asarray(m.a)[:4],
    "a scan": lambda m: lambda v: jax.lax.scan(lambda c, _: (logged(m, c), None), v, None, length=3)[0],
    "a branch": lambda m: lambda v: jax.lax.cond(v[0] > 0, lambda u: pure(m, u), lambda u: u, v),
    "an inner jit": lambda m: lambda v: jax.jit(lambda u: logged(m, u))(v) + 1,
    "custom_linear_solve": lambda m: (
        lambda v: jax.lax.custom_linear_solve(lambda u: u * m.a[0], v, lambda f, b: b / m.a[0])
    ),
    "custom_partitioning": partitioned,
    "a partial": lambda m: functools.partial(lambda k, v: v * k.a[0], m),
    "a default": lambda m: lambda v, k=m: v * k.a[0],
    "ahead of time": lambda m: lambda v: jax.jit(lambda u: logged(m, u)).lower(X).compile() and v,
    "a trace alone": lambda m: lambda v: jax.jit(lambda u: logged(m, u)).trace(X) and v,
    "make_jaxpr": lambda m: lambda v: jax.make_jaxpr(lambda u: logged(m, u))(X) and v,
}
HELD_BY_JAX: dict[str, Callable[[Model], _Function]] = {
    "an eager callback": lambda m: (pure(m, X), lambda v: v)[1],
    "a static argument": lambda m: lambda v: jax.jit(lambda k, u: u * k.a[0], static_argnums=0)(m, v),
    "a node's data": lambda m: lambda v: jax.jit(lambda n: n.x * 2)(Node(v, m)),
    "a result's node's data": lambda m: lambda v: jax.jit(lambda u: Node(u * 2, m))(v).x,
}
"""What JAX's own caches hold until they are cleared."""


def used(way: Callable[[Model], _Function]) -> tuple[weakref.ref[Any], weakref.ref[Any]]:
    model = Model()
    function = way(model)
    jax.block_until_ready(jax.jit(function)(X))
    jax.effects_barrier()
    return weakref.ref(model), weakref.ref(model.a)


def alive(refs: tuple[weakref.ref[Any], ...]) -> list[bool]:
    """Whether each is alive still; a thread of XLA's may hold a callback for a moment after its last call."""
    for _ in range(50):
        gc.collect()
        if not any(ref() is not None for ref in refs):
            break
        time.sleep(0.02)
    return [ref() is not None for ref in refs]


@pytest.mark.parametrize("way", WAYS)
def test_the_log_keeps_no_model_and_no_array_alive(way: str) -> None:
    with heard_compiles() as heard:
        refs = used(WAYS[way])
        assert alive(refs) == [False, False]
        assert any(record.artefacts.jaxpr is not None for record in heard.all())
        assert heard.faults == 0


@pytest.mark.parametrize("way", HELD_BY_JAX)
def test_clearing_jax_frees_what_its_caches_held(way: str) -> None:
    with heard_compiles() as heard:
        refs = used(HELD_BY_JAX[way])
        faults = heard.faults
        jax.clear_caches()
        assert alive(refs) == [False, False]
        assert (faults, heard.faults) == (0, 0)


def test_a_stand_in_has_the_name_of_the_function_and_cannot_be_called() -> None:
    model = Model()

    def every(v: Any) -> Any:
        jax.debug.callback(model.log, v)
        jax.debug.callback(functools.partial(Model.log, model), v)
        jax.debug.callback(lambda u: None, v)
        return pure(model, v) + io_callback(model.read, v, v) + with_vjp(model)(v) + jax.nn.relu(v)

    whole = jax.make_jaxpr(every)(X)
    kept = outlined(whole)
    assert kept is not whole
    assert [called_by(eqn) for eqn in kept.eqns] == [called_by(eqn) for eqn in whole.eqns]
    assert [called_by(eqn) for eqn in kept.eqns][:2] == ["Model.log", "Model.log"]
    with pytest.raises(ValueError, match=r"Model\.read was not kept"):
        kept.eqns[3].params["callback"]()


def test_a_jaxpr_that_captured_nothing_is_kept_itself() -> None:
    """Rules and policies of JAX's own library hold nothing of the user's."""

    def plain(v: Any) -> Any:
        v = jax.checkpoint(jnp.sin, policy=jax.checkpoint_policies.save_only_these_names("a"))(v)
        return jax.lax.scan(lambda c, _: (c * 2, None), v, None, length=3)[0]

    jaxpr = jax.make_jaxpr(plain)(X)
    assert outlined(jaxpr) is jaxpr


def _opened(heard: Heard) -> Any:
    return next(logged_program(each) for each in reversed(heard.all()) if each.artefacts.executable is not None)


@pytest.mark.parametrize("way", ["debug.callback's method", "custom_vjp", "a checkpoint policy", "a scan", "an array"])
def test_what_is_kept_reads_as_what_jax_made(way: str) -> None:
    model = Model()
    with heard_compiles() as heard:
        function = jax.jit(WAYS[way](model))
        function(X)
        program = _opened(heard)
        expected = jax.make_jaxpr(function)(X).eqns[0].params["jaxpr"]
    names = [str(eqn.primitive) for eqn in expected.eqns]
    kept = program.jax_traced.jaxpr
    assert [str(eqn.primitive) for eqn in kept.eqns] == names
    assert kept.in_avals == expected.in_avals
    text = program.documents["jaxpr"].text
    assert all(name in text for name in names)
    assert "ENTRY" in program.documents["hlo"].text and "func.func" in program.documents["stablehlo"].text
    assert LOG.of_executable(function.lower(X).compile().runtime_executable()) is not None
    del model
