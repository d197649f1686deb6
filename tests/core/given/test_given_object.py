"""What JAX made of a function is staged from where it stands, and says the same as the function."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.given import given_call
from jaxstage_ext.core.given.symbolic import SymbolicAxis
from jaxstage_ext.report.unavailable import Unavailable


def step(params: Any, x: Any, *, rate: Any = 2.0) -> Any:
    hidden = jnp.tanh(x @ params["w"] + params["b"])
    return {"loss": hidden.sum(), "hidden": hidden * rate, "x": x + 1}


PARAMS = {"w": jnp.ones((8, 16)), "b": jnp.zeros(16)}
X = jnp.ones((4, 8))


@pytest.fixture(scope="module")
def traced() -> Any:
    return jax.jit(step, donate_argnums=1).trace(PARAMS, X, rate=1.0)


@pytest.fixture(scope="module")
def of_function() -> Inspection:
    return jaxstage_ext.inspect(jax.jit(step, donate_argnums=1), PARAMS, X, rate=1.0)


def states(inspection: Inspection) -> list[str]:
    return [stage["state"] for stage in inspection.summary()["stages"]]


def test_each_starts_at_its_own_stage(traced: Any) -> None:
    lowered = traced.lower()
    assert states(jaxstage_ext.inspect(traced)) == ["given", "done", "done"]
    assert states(jaxstage_ext.inspect(lowered)) == ["not given", "given", "done"]
    assert states(jaxstage_ext.inspect(lowered.compile())) == ["not given", "not given", "given"]
    assert states(jaxstage_ext.inspect(lowered, stage="lower")) == ["not given", "given"]


def test_a_given_stage_has_no_time(traced: Any) -> None:
    assert "trace" not in jaxstage_ext.inspect(traced).seconds


@pytest.mark.parametrize("made", [lambda t: t, lambda t: t.lower(), lambda t: t.lower().compile()])
def test_the_figures_are_those_of_the_function(traced: Any, of_function: Inspection, made: Any) -> None:
    given = jaxstage_ext.inspect(made(traced))
    assert given.documents["hlo"].text == of_function.documents["hlo"].text
    assert given.cost.work.total_flops == of_function.cost.work.total_flops
    facts = [{fact["label"]: fact["text"] for fact in each.summary()["facts"]} for each in (given, of_function)]
    assert facts[0]["memory needed"] == facts[1]["memory needed"]
    assert given.summary()["signature"] == of_function.summary()["signature"]


def test_arguments_of_a_lowered_have_their_names_and_donation(traced: Any, of_function: Inspection) -> None:
    given = jaxstage_ext.inspect(traced.lower())
    assert str(given.memory.arguments) == str(of_function.memory.arguments)
    assert str(given.memory.results) == str(of_function.memory.results)
    assert "params['w']" in str(given.memory.arguments)


@pytest.mark.parametrize("question", ["memory", "passes", "kernels"])
def test_what_a_compiled_cannot_answer_says_what_to_give(traced: Any, question: str) -> None:
    inspection = jaxstage_ext.inspect(traced.lower().compile())
    with pytest.raises(Unavailable, match=r"a Compiled has no StableHLO.* give the Lowered"):
        getattr(inspection, question)


def test_a_compiled_counts_its_devices() -> None:
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    sharded = jax.device_put(jnp.ones((8 * jax.device_count(), 4)), jax.NamedSharding(mesh, jax.P("data")))
    compiled = jax.jit(lambda x: x.sum(0)).lower(sharded).compile()
    inspection = jaxstage_ext.inspect(compiled)
    assert jax.device_count() == 1 or "one of" in str(inspection.cost.ledger.notes)
    assert len(inspection.collectives.table) == (jax.device_count() > 1)
    table = inspection.shardings.table
    of_function = jaxstage_ext.inspect(jax.jit(lambda x: x.sum(0)), sharded).shardings.table
    for column in ("value", "type", "sharding", "shard", "per device", "copies"):
        assert list(table[column]) == list(of_function[column])
    assert list(table["chosen by"]) == [None, None]


def test_a_lowered_of_several_platforms_is_compiled_as_on_one() -> None:
    def which(x: Any) -> Any:
        return jax.lax.platform_dependent(x, cpu=jnp.sin, tpu=jnp.cos)

    lowered = jax.jit(which).trace(X).lower(lowering_platforms=("cpu", "tpu"))
    inspection = jaxstage_ext.inspect(lowered)
    np.testing.assert_allclose(inspection.compiled(X), np.sin(X), rtol=1e-6)
    assert "cosine" not in inspection.documents["hlo"].text
    assert "_platform_index" in lowered.as_text()


def test_a_lowered_of_another_platform_is_refused_with_what_to_do(traced: Any) -> None:
    for_tpu = traced.lower(lowering_platforms=("tpu",))
    with pytest.raises(Unavailable, match=r"is for tpu, and this machine's device is a CPU; name a target .* v5e:2x2"):
        jaxstage_ext.inspect(for_tpu)
    with pytest.raises(Unavailable, match=r"give its Traced, or lower that with .lower\(lowering_platforms=\('tpu',\)"):
        jaxstage_ext.inspect(traced.lower(), target="v5e:2x2")


def test_an_exported_program_gives_what_the_function_gives() -> None:
    exported = export.export(jax.jit(step))(PARAMS, X)
    given, own = jaxstage_ext.inspect(exported), jaxstage_ext.inspect(jax.jit(step), PARAMS, X)
    assert given.cost.work.total_flops == own.cost.work.total_flops
    assert states(given) == ["not given", "done", "done"]
    np.testing.assert_allclose(given.compiled(PARAMS, X)["hidden"], step(PARAMS, X)["hidden"], rtol=1e-6)


def test_symbolic_axes_take_a_size_or_that_of_an_argument() -> None:
    batch, _ = export.symbolic_shape("batch, other")
    shape = jax.ShapeDtypeStruct((2 * batch, 8), jnp.float32)
    exported = export.export(jax.jit(step))(PARAMS, shape)
    with pytest.raises(SymbolicAxis, match="axis batch is symbolic: give a size with --dim batch=8"):
        jaxstage_ext.inspect(exported)
    given = given_call.given_object(exported, sizes={"batch": 3})
    assert given is not None
    assert given.args[1].shape == (6, 8)
    assert "f32[4,16]" in jaxstage_ext.inspect(exported, PARAMS, X).documents["hlo"].text


def test_a_closed_jaxpr_is_staged_with_its_names_and_lines() -> None:
    closed = jax.make_jaxpr(step)(PARAMS, X)
    given = jaxstage_ext.inspect(closed)
    assert given.memory.arguments["argument"] == ["params['b']", "params['w']", "x"]
    assert given.cost.work.total_flops == jaxstage_ext.inspect(jax.jit(step), PARAMS, X).cost.work.total_flops
    assert "test_given_object.py:2" in str(given.cost.work.by("line"))


def test_a_library_s_own_form_is_one_too() -> None:
    def loss(model: eqx.nn.MLP, x: Any) -> Any:
        return jax.vmap(model)(x).sum()

    model = eqx.nn.MLP(8, 4, 16, 2, key=jax.random.key(0))
    lowered = eqx.filter_jit(loss).lower(model, X)
    own = jaxstage_ext.inspect(eqx.filter_jit(loss), model, X)
    for made in (lowered, lowered.compile()):
        given = jaxstage_ext.inspect(made)
        assert given.documents["hlo"].text == own.documents["hlo"].text
        assert given.name == "loss"


@pytest.mark.parametrize("value", [step, jax.jit(step), X, "text", None, eqx.nn.MLP, object()])
def test_nothing_else_is_given(value: Any) -> None:
    assert given_call.given_object(value) is None
    assert not given_call.is_given(value)
