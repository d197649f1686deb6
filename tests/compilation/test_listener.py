"""What the log records of real calls, told by what the test itself did."""

from __future__ import annotations

import functools
import gc
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.compilation.events import running_stages
from jaxstage_ext.compilation.records.compile_record import Asker, Entry, StageName
from jaxstage_ext.core.jax_private.compile_frames import EventFrames
from tests.helpers.compile_records import compile_record, stage_runs
from tests.helpers.heard_compiles import ALL, Heard, heard_compiles, stages


@pytest.fixture
def heard() -> Iterator[Heard]:
    with heard_compiles() as heard:
        yield heard
    assert heard.faults == 0


def here() -> int:
    """The line of the caller."""
    return sys._getframe(1).f_lineno


def test_a_call_has_one_record_with_its_stages_and_its_line(heard: Heard) -> None:
    @jax.jit
    def step(x: Any) -> Any:
        return x + 1

    x = np.ones((2, 3), np.float32)
    step(x)
    line = here() - 1
    step(x)
    [record] = heard.named("step")
    assert record.entry is Entry.CALL
    assert record.asker is Asker.USER
    assert stages(record) == ALL
    assert all(run.seconds is not None and run.seconds > 0 and run.failed is None for run in record.stages)
    assert record.stage(StageName.TRACE).was_cached is False  # type: ignore[union-attr]
    assert record.call_site is not None
    assert record.user_line is not None
    assert (record.call_site.file, record.call_site.line) == (__file__, line)
    assert (record.user_line.file, record.user_line.line) == (__file__, line)
    assert record.user_line.function.endswith("test_a_call_has_one_record_with_its_stages_and_its_line")
    assert record.parent is None
    assert record.failed is None
    assert len(record.context) > 30


def test_the_signature_is_what_jax_looks_at(heard: Heard) -> None:
    @functools.partial(jax.jit, static_argnums=1, static_argnames="mode")
    def step(x: Any, n: int, y: Any = None, *, mode: str = "a") -> Any:
        return x["w"] * n

    placed = jax.device_put(jnp.ones(3), jax.devices()[0])
    step({"w": placed, "b": 2.0}, 3, mode="b", y=np.zeros(4, np.int32))
    [record] = heard.named("step")
    signature = record.signature
    assert signature is not None
    assert [str(aval.str_short(short_dtypes=True)) for aval in signature.avals] == ["f32[]", "f32[3]", "i32[4]"]
    assert [aval.weak_type for aval in signature.avals] == [True, False, False]
    assert signature.kinds == ("float", "ArrayImpl", "ndarray")
    assert signature.placements == (None, placed.sharding, None)
    assert [(value.name, value.value) for value in signature.statics] == [("n", 3), ("mode", "b")]
    assert sorted(signature.keywords) == ["mode", "y"]
    assert signature.tree == jax.tree.structure((({"w": 0, "b": 0},), {"y": 0}))


def test_the_tree_of_a_trace_alone_equals_that_of_a_compile(heard: Heard) -> None:
    traced = jax.jit(lambda x, y: x["a"] + y)
    traced.eval_shape({"a": 1.0}, y=2.0)
    [record] = heard.users()
    assert stages(record) == ["trace"]
    assert record.entry is Entry.AOT
    assert record.signature is not None
    traced({"a": jax.device_put(jnp.ones(()), jax.devices()[0])}, y=2.0)
    assert heard.users()[-1].signature.tree == record.signature.tree  # type: ignore[union-attr]


def test_a_weak_reference_alone_is_kept_of_the_function_and_nothing_of_arrays(heard: Heard) -> None:
    def call() -> tuple[weakref.ref[Any], weakref.ref[Any], weakref.ref[Any]]:
        big = jnp.zeros(300_000)

        def step(x: Any) -> Any:
            return x + big

        x = jnp.ones(300_000)
        jitted = jax.jit(step, donate_argnums=0)
        jitted(x)
        return weakref.ref(x), weakref.ref(big), weakref.ref(step)

    x, big, step = call()
    [record] = heard.named("step")
    assert record.function is not None
    [captured] = record.function.captured
    assert (captured.name, captured.shape) == ("big", "f32[300000]")
    jax.clear_caches()
    gc.collect()
    assert (x(), big(), step(), captured.ref and captured.ref()) == (None, None, None, None)


class Model:
    """A class whose method is jitted."""

    def apply(self, x: Any) -> Any:
        return x + 1


def test_layers_around_a_function(heard: Heard) -> None:
    def step(scale: float, x: Any) -> Any:
        return x * scale

    def decorated(fn: Any) -> Any:
        @functools.wraps(fn)
        def inner(*args: Any) -> Any:
            return fn(*args)

        return inner

    jax.jit(functools.partial(step, 2.0))(1.0)
    jax.jit(Model().apply)(1.0)
    jax.jit(jax.grad(decorated(step)))(1.0, 2.0)
    functions = [record.function for record in heard.users()]
    assert [function and function.layers for function in functions] == [
        ("partial",),
        ("method",),
        ("jax.grad", "wraps"),
    ]
    assert [function and function.qualname.split(".")[-1] for function in functions] == ["step", "apply", "step"]
    assert [value.value for value in functions[0].bound] == [2.0]  # type: ignore[union-attr]
    assert functions[2].code is step.__code__  # type: ignore[union-attr]
    assert functions[2].parameters == ("scale", "x")  # type: ignore[union-attr]


def test_a_static_argument_below_a_partial_has_its_parameters_name(heard: Heard) -> None:
    def step(scale: float, x: Any, n: int) -> Any:
        return x * scale * n

    jax.jit(functools.partial(step, 2.0), static_argnums=1)(1.0, 3)
    [record] = heard.named("step") or heard.users()
    assert record.signature is not None
    assert [(value.name, value.value) for value in record.signature.statics] == [("n", 3)]


def test_which_caches_served(heard: Heard) -> None:
    def step(x: Any) -> Any:
        return x + 1

    x = np.ones(2, np.float32)
    jitted = jax.jit(step)
    jitted(x)
    jax.jit(step, donate_argnums=0)(x)
    jitted(jax.device_put(x, jax.devices()[0]))
    jax.jit(step, compiler_options={"xla_embed_ir_in_executable": True})(x)
    assert [stages(record) for record in heard.named("step")] == [
        ALL,
        ["trace cached", "lower", "compile"],
        ["lower", "compile"],
        ["trace cached", "compile"],
    ]
    assert heard.named("step")[-1].compiler_options == (("xla_embed_ir_in_executable", True),)
    assert heard.named("step")[1].jit_options.donate_argnums == (0,)
    assert all(record.signature is not None and record.signature.avals for record in heard.named("step"))


def test_two_calls_of_one_line_are_two_records(heard: Heard) -> None:
    step = jax.jit(lambda x: x + 1)
    for size in (1, 2, 3):
        step(np.ones(size, np.float32))
    assert [stages(record) for record in heard.users()] == [ALL] * 3
    assert [record.signature.avals[0].shape for record in heard.users()] == [(1,), (2,), (3,)]  # type: ignore[union-attr]


def test_ahead_of_time(heard: Heard) -> None:
    step = jax.jit(lambda x: x + 1)
    step.lower(1.0).compile()
    [record] = heard.users()
    assert (record.entry, stages(record)) == (Entry.AOT, ALL)
    lowered = step.lower(np.ones(3, np.float32))
    lowered.compile()
    lowered.compile({"xla_embed_ir_in_executable": True})
    again = heard.users()[-1]
    assert stages(again) == ["compile"]
    assert again.signature is not None
    assert again.signature.avals[0].shape == (3,)
    assert again.function is not None
    assert again.compiler_options == (("xla_embed_ir_in_executable", True),)


def test_a_frame_with_the_address_of_a_former_one_continues_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found where a compile ahead of time stood in the record of another function of that name, traced before."""

    def frame_of_a_trace() -> Any:
        return sys._getframe()

    def frame_of_a_compile() -> Any:
        return sys._getframe()

    monkeypatch.setattr(running_stages, "id", lambda frame: 1, raising=False)
    running = running_stages.RunningStages()
    traced = compile_record(stages=stage_runs(lower=0.0, compiled=0.0))
    running.add(traced, EventFrames(driver=frame_of_a_trace()))
    assert running.continued(EventFrames(driver=frame_of_a_trace()), StageName.COMPILE, "step") is traced
    assert running.continued(EventFrames(driver=frame_of_a_compile()), StageName.COMPILE, "step") is None


def test_under_a_transformation(heard: Heard) -> None:
    @jax.jit
    def step(x: Any) -> Any:
        return jnp.sin(x) * x

    jax.grad(step)(1.0)
    records = heard.users()
    assert {record.entry for record in records} == {Entry.INNER}
    forward = records[0]
    assert forward.function is not None
    assert forward.function.qualname.endswith("step")
    assert forward.signature is not None
    assert forward.signature.avals[0].shape == ()
    backward = [record for record in records if record.function is None]
    assert all(record.signature is not None and record.signature.tree is None for record in backward)
    assert {record.user_line and record.user_line.file for record in records} == {__file__}


def test_eager_operations_are_told_from_functions_of_the_users(heard: Heard) -> None:
    jnp.ones(7) * 3
    assert {record.entry for record in heard.all()} == {Entry.EAGER}
    assert heard.all()
    jax.jit(jax.nn.softmax)(np.ones(3, np.float32))
    jax.jit(jnp.tanh)(np.ones(3, np.float32))
    assert [record.name for record in heard.users()] == ["softmax", "tanh"]


def test_nested_work_is_not_counted_twice(heard: Heard) -> None:
    @jax.jit
    def outer(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            total = jax.jit(lambda: jnp.arange(5).sum())()
        return x + total

    outer(1.0)
    [record] = heard.named("outer")
    inside = [other for other in heard.all() if other.parent == record.number]
    assert inside
    trace = record.stage(StageName.TRACE)
    assert trace is not None
    assert trace.seconds is not None
    assert trace.own_seconds is not None
    nested = sum(run.seconds or 0 for other in inside for run in other.stages)
    assert trace.own_seconds == pytest.approx(trace.seconds - nested, abs=1e-6)
    assert trace.own_seconds < trace.seconds


def test_a_failed_trace_and_a_failed_compile(heard: Heard) -> None:
    step = jax.jit(lambda x: x @ x)
    with pytest.raises(TypeError):
        step(np.ones((2, 3), np.float32))
    [record] = heard.users()
    assert stages(record) == ["trace"]
    assert record.stages[0].failed == "TypeError"
    assert record.failed is not None
    assert record.failed.startswith("TypeError: dot_general requires")
    wrong = jax.jit(lambda x: x + 1, compiler_options={"xla_not_an_option": True})
    with pytest.raises(jax.errors.JaxRuntimeError):
        wrong(1.0)
    assert heard.users()[-1].stages[-1].failed == "JaxRuntimeError"
    step(np.ones((2, 2), np.float32))
    assert heard.users()[-1].failed is None


def test_clears_of_all_caches_and_of_one_function(heard: Heard) -> None:
    step = jax.jit(lambda x: x + 1)
    other = jax.jit(lambda x: x + 2)
    other(1.0)
    other(2)
    step(1.0)
    jax.clear_caches()
    step(1.0)
    other(1.0)
    other(1)
    step.clear_cache()
    step(1.0)
    clears = [record.clears for record in heard.users()]
    assert [count - clears[0] for count in clears] == [0, 0, 0, 1, 1, 1, 2]


def test_what_the_stages_made_is_at_hand_and_bounded(heard: Heard) -> None:
    step = jax.jit(lambda x: x + 1)
    for size in range(40):
        step(np.ones(size + 1, np.float32))
    records = heard.users()
    newest = records[-1].artefacts
    assert newest.executable.hlo_modules()[0].name == "jit__lambda"
    assert "stablehlo.add" in str(newest.module)
    assert newest.jaxpr.eqns[0].primitive.name == "add"
    assert newest.devices == (jax.devices()[0],)
    assert newest.options.num_replicas == 1
    assert sum(record.artefacts.executable is not None for record in records) == 32
    assert records[0].artefacts.module is None
    jax.clear_caches()
    assert not [record for record in records if record.artefacts.executable is not None]


def test_work_of_ours_is_marked(heard: Heard) -> None:
    from jaxstage_ext import inspect

    def step(x: Any) -> Any:
        return jnp.sin(x)

    inspect(step, np.ones(3, np.float32))
    assert {record.asker for record in heard.all()} == {Asker.JAXSTAGE}
    assert heard.named("step")
    jax.jit(step)(np.ones(4, np.float32))
    assert [record.asker for record in heard.named("step")][-1] is Asker.USER
