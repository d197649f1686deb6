"""Recompiles in programs as users write them, where a cause that looks alike would be blamed."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.compilation.causes.cause import Cause
from jaxstage_ext.compilation.history.costliest import costliest
from jaxstage_ext.compilation.history.history import history
from jaxstage_ext.compilation.history.history_rows import is_eager

X = np.ones((4, 3), np.float32)


def test_a_static_argument_by_position_and_by_keyword(heard: Any) -> None:
    @partial(jax.jit, static_argnames="train")
    def run(x: Any, train: bool) -> Any:
        return x * train

    run(X, train=False)
    run(X, False)
    told = heard.last("run")
    assert (told.cause, told.changes) == (
        Cause.ARGUMENT_FORM,
        [("train", "keyword", "positional")],
    )
    told.mended(run=run, x=X, train=False)
    assert heard.count() == 2


def test_a_static_size_is_told_both_ways_out(heard: Any) -> None:
    padded = jax.jit(lambda x, n, fill: jnp.full(n, fill).at[:4].set(x[:, 0]), static_argnames=("n", "fill"))
    padded(X, n=8, fill=0.0)
    padded(X, n=9, fill=0.0)
    sentence, code = heard.last().advice.sentence, heard.last().advice.code
    assert "static_argnames" in sentence and "powers of two" in sentence
    assert code == "fn = jax.jit(lambda x, n, fill: ..., static_argnames=('fill',))"


def test_the_gradient_of_a_function_is_another_function(heard: Any) -> None:
    def loss(x: Any) -> Any:
        return jnp.sum(x**2)

    jax.jit(loss)(X)
    jax.jit(jax.grad(loss))(X)
    assert heard.last().cause is Cause.FIRST and " jax.grad(loss) " in heard.last().why
    jax.jit(jax.grad(loss))(X)
    assert heard.last().cause is Cause.MADE_ANEW


def test_a_partial_of_a_lambda_has_code_to_write(heard: Any) -> None:
    for rate in (0.1, 0.2):
        jax.jit(partial(lambda x, rate: x * rate, rate=rate))(X)
    assert heard.last().code == "fn = jax.jit(lambda x, rate: ...)\nfn(..., rate=rate)"


def test_a_shard_map_that_is_made_anew(heard: Any) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("d",))
    spec = jax.sharding.PartitionSpec("d")
    for _ in range(2):
        jax.jit(jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=spec, out_specs=spec))(X)
    told = heard.last()
    assert told.cause is Cause.MADE_ANEW
    assert told.advice.code.startswith("shard_map_fn = jax.jit(jax.shard_map(lambda x: ..., ...))")


def test_a_shard_map_outside_jit_is_eager(heard: Any) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("d",))
    spec = jax.sharding.PartitionSpec("d")
    for _ in range(2):
        jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=spec, out_specs=spec)(X)
    assert history().records
    assert all(is_eager(record) for record in history().records)


def test_a_call_that_jax_only_looks_up_is_no_recompile(heard: Any) -> None:
    def double(x: Any) -> Any:
        return x * 2

    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    placed = jax.device_put(X, place)
    jax.jit(double)(placed)
    jax.jit(double, out_shardings=place)(placed)
    seen = history()
    assert len(seen.records) == 2
    for record in seen.records:
        did = [run for run in record.stages if not run.was_cached]
        assert seen.is_recompile(record) == bool(did and record is not seen.records[0])
        assert did or seen.advice(record) is None


def test_different_lambdas_are_different_functions(heard: Any) -> None:
    jax.jit(lambda x: x + 1)(X)
    jax.jit(lambda x: x - 1)(X)
    for _ in range(3):
        jax.jit(lambda x: x * 7)(X)
    seen = history()
    found = costliest(seen)
    assert found is not None
    assert len(found.records) == 2
    table = seen.by_function()
    assert sorted(zip(table["compiles"], table["recompiles"], strict=True)) == [(1, 0), (1, 0), (3, 2)]
    lines = {record.user_line.line for record in seen.records if record.user_line}
    assert len(set(table["function"])) == len(lines) == 3
    assert all(name.startswith("<lambda> (") for name in table["function"])


def test_the_lines_of_a_dataclass_that_are_static(heard: Any) -> None:
    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class State:
        w: Any
        update: Any = dataclasses.field(metadata={"static": True})

    run = jax.jit(lambda state: state.update(state.w))
    for _ in range(2):
        run(State(X, lambda w: w + 1))
    told = heard.last()
    assert (told.cause, told.verdict.differences[0].what) == (Cause.STATIC_IDENTITY, "state.update")
    assert "state.update" in told.advice.sentence


def test_a_field_that_is_not_compared_is_not_blamed(heard: Any) -> None:
    @dataclasses.dataclass(unsafe_hash=True)
    class Model:
        width: int
        token: Any = dataclasses.field(default_factory=object, compare=False)

    run = jax.jit(lambda model, x: x * model.width, static_argnums=0)
    run(Model(1), X)
    run(Model(2), X)
    assert (heard.last().cause, heard.last().changes) == (Cause.STATIC_VALUE, [("model.width", "1", "2")])


def test_a_train_state_with_a_new_optimizer() -> None:
    pytest.importorskip("flax")
    optax = pytest.importorskip("optax")
    from flax.training.train_state import TrainState

    from jaxstage_ext.compilation.causes.argument_paths import parts
    from jaxstage_ext.compilation.records.static_parts import static_part_differences

    states = [TrainState.create(apply_fn=len, params={"w": X}, tx=optax.sgd(0.1)) for _ in range(2)]
    old, new = (parts(jax.tree.structure(state), "state").nodes["state"][1] for state in states)
    assert next(d.what for d in static_part_differences("state", old, new)).startswith("state.tx")


def test_an_array_for_what_was_a_number(heard: Any) -> None:
    equinox = pytest.importorskip("equinox")

    @equinox.filter_jit
    def run(x: Any, rate: Any) -> Any:
        return x * rate

    run(X, 0.1)
    run(X, jnp.asarray(0.1))
    told = heard.last("run")
    assert (told.cause, told.changes) == (Cause.PYTREE, [("rate", "0.1", "f32[]")])
    told.mended(rate=0.1)
    assert told.advice.code == "jnp.asarray(rate, jnp.float32)"


def test_nnx_jit_is_named_in_the_code(heard: Any) -> None:
    nnx = pytest.importorskip("flax.nnx")
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    for _ in range(2):

        @nnx.jit
        def run(model: Any, x: Any) -> Any:
            return model(x)

        run(model, X)
    assert "@nnx.jit\ndef run(" in heard.last("run").advice.code
