"""Functions that JAX refuses, compiles that fail: the stages before them stay, the error is JAX's own."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage.staged import INTERRUPTED, WAITING
from jaxstage_ext.core.targets.target import parse_all

X = jnp.ones((8, 128))


W = jnp.ones((128, 512))


def loss(w, x):
    return jnp.sum(jax.nn.softmax(jnp.tanh(x @ w)))


def stages_of(inspection: Inspection) -> dict[str, str]:
    return {stage["name"]: stage["state"] for stage in inspection.summary()["stages"]}


def test_a_function_that_cannot_be_traced() -> None:
    def branches(x):
        if x > 0:
            return x
        return -x

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        inspect(branches, 1.0)
    assert not any("jaxstage_ext/core" in str(entry.path) for entry in caught.traceback)
    inspection = caught.value.inspection
    assert inspection.error.stage == "trace"
    assert inspection.error.span.line == branches.__code__.co_firstlineno + 1
    summary = inspection.summary()
    assert summary["error"]["line"] == branches.__code__.co_firstlineno + 1
    assert stages_of(inspection) == {"trace": "failed", "lower": "not reached", "compile": "not reached"}
    assert "if x > 0:" in inspection.documents["python"].text


def test_a_failing_compile_leaves_the_earlier_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args, **kwargs):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room")

    monkeypatch.setattr(jax.stages.Lowered, "compile", fail)
    inspection = run(Call(loss, (W, X)))
    assert list(inspection.documents) == ["python", "jaxpr", "stablehlo"]
    assert inspection.error is not None
    assert "RESOURCE_EXHAUSTED" in inspection.error.message
    assert [fact["text"] for fact in inspection.summary()["facts"]] == []
    with pytest.raises(ValueError, match=r"loss: compile failed \(see \.error\); nothing to run"):
        inspection.execute()


def test_an_interrupt_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(jax.stages.Lowered, "compile", stop)
    inspection = run(Call(loss, (W, X)))
    assert inspection.error is not None
    assert inspection.error.interrupted
    assert stages_of(inspection)["compile"] == "interrupted"
    assert len(inspection.documents["stablehlo"]) > 3


def test_an_interrupt_ends_the_targets_that_wait_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(jax.stages.Lowered, "compile", stop)
    several = run(Call(loss, (W, X)), targets=parse_all(["local", "cpu:2"])).targets
    assert {name: each.program.staged.stages[-1].state for name, each in several.items()} == {
        "local": INTERRUPTED,
        "cpu:2": WAITING,
    }


def test_the_executable_explains_what_it_cannot_do() -> None:
    compiled = inspect(loss, W, X).compiled
    with pytest.raises(TypeError, match=r"(?s)compiled|Argument types differ"):
        compiled(W, X.astype(jnp.bfloat16))
    with pytest.raises(TypeError, match="Cannot apply JAX transformations"):
        jax.vmap(compiled, in_axes=(None, 0))(W, X[None])


def wrong_shapes(x):
    return x + jnp.ones(7)


def concrete(x):
    return np.asarray(x)


@pytest.mark.parametrize(
    ("fn", "error"),
    [
        (wrong_shapes, (TypeError, ValueError)),
        (concrete, jax.errors.TracerArrayConversionError),
    ],
)
def test_functions_that_jax_refuses(fn, error) -> None:
    with pytest.raises(error) as caught:
        inspect(fn, X)
    stage_error = caught.value.inspection.error
    assert stage_error.span.line == fn.__code__.co_firstlineno + 1
    assert stage_error.message


@pytest.fixture
def few_objects_to_search() -> Iterator[None]:
    """JAX asks the garbage collector who holds a tracer: not among all objects of the tests that ran before."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("few_objects_to_search")
def test_a_leaked_tracer_is_jaxs_own_error() -> None:
    kept = []

    def leaks(x):
        kept.append(x * 2)
        return x

    with jax.checking_leaks(), pytest.raises(Exception, match="Leaked") as caught:
        inspect(leaks, X)
    assert caught.value.inspection.error.stage == "trace"


def test_what_cannot_be_staged_says_so_in_a_line() -> None:
    with pytest.raises(TypeError, match=r"'abc' is a str, not a function"):
        inspect("abc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"stage='hlo' is not a stage"):
        inspect(loss, W, X, stage="hlo")
