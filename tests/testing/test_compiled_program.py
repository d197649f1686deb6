"""Assertions about compiled programs: each holds of a program and is red of a twin without the property."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from findings import planted
from findings.planted import Planted
from jax.sharding import PartitionSpec as P

from jaxstage_ext.program.program import Program
from jaxstage_ext.testing import CompiledProgram, compiled

pytestmark = pytest.mark.usefixtures("kept_answers")
TARGETS = ("cpu:4", "v5e:2x2", "h100:4")
every_target = pytest.mark.parametrize("target", TARGETS)
W, X = jax.ShapeDtypeStruct((1024, 1024), jnp.float32), jax.ShapeDtypeStruct((64, 1024), jnp.float32)


def loss(params: jax.Array, batch: jax.Array) -> jax.Array:
    return (jnp.tanh(batch @ params) ** 2).sum()


def update(params: jax.Array, batch: jax.Array) -> jax.Array:
    return params - 0.1 * jax.grad(loss)(params, batch)


donated, kept = jax.jit(update, donate_argnames="params"), jax.jit(update)


def sharded(target: str, spec: P, fn: Any = donated) -> CompiledProgram:
    """The step on a mesh of four devices, its batch split or whole."""
    needs(target)
    return compiled(fn, W, X, target=target, mesh="data=4", in_specs={"batch": spec})


def fails(assertion: Callable[[], Any]) -> str:
    with pytest.raises(AssertionError) as caught:
        assertion()
    return str(caught.value)


@every_target
def test_a_sharded_step_sums_gradients_and_a_replicated_one_exchanges_nothing(target: str) -> None:
    step = sharded(target, P("data"))
    step.collectives(at_most={"all-gather": 0, "all-reduce": 1}, sent="8 MB")
    said = fails(lambda: step.collectives(at_most={"all-reduce": 0}))
    assert "1 all-reduce, at most 0 allowed" in said
    assert "test_compiled_program.py:" in said and "over data" in said
    assert target in said.splitlines()[0]
    sharded(target, P()).collectives(at_most={"all-reduce": 0}, sent=0)
    sent = step.inspection.collectives.sent.most
    step.collectives(sent=sent)
    assert "what each device sends" in fails(lambda: step.collectives(sent=sent - 1))


@every_target
def test_figures_are_those_of_the_inspection(target: str) -> None:
    step = sharded(target, P("data"))
    step.memory(at_most="20 MB")
    work, needed = step.inspection.cost.work, step.inspection.memory.fit.needed
    figures = {fact["label"]: fact["text"] for fact in step.inspection.summary()["facts"]}
    assert needed is not None
    step.memory(at_most=needed).flops(at_most=work.total_flops).bytes_moved(at_most=work.total_bytes)
    assert figures["memory needed"] in fails(lambda: step.memory(at_most=needed - 1))
    assert figures["FLOPs"] in fails(lambda: step.flops(at_most=work.total_flops - 1))
    assert figures["bytes moved"] in fails(lambda: step.bytes_moved(at_most="1 kB"))
    assert "test_compiled_program.py:" in fails(lambda: step.flops(at_most=1))


def test_flops_are_those_of_a_count_by_hand() -> None:
    product = compiled(lambda a, b: a @ b, W, W)
    product.flops(at_most=2 * 1024**3)
    fails(lambda: product.flops(at_most=2 * 1024**3 - 1))


@every_target
def test_a_donation_that_is_used_and_one_that_is_missing(target: str) -> None:
    sharded(target, P("data")).donates("params")
    said = fails(lambda: sharded(target, P("data"), kept).donates("params"))
    assert "params" in said and "not donated" in said
    assert "no argument 'parms'; it has params, batch" in fails(lambda: sharded(target, P("data")).donates("parms"))


def test_an_argument_whose_donation_no_result_takes() -> None:
    summed = jax.jit(lambda params: params.sum(), donate_argnums=0)
    assert "XLA used it for no result" in fails(lambda: compiled(summed, W).donates("params"))


def test_every_leaf_of_a_tree_must_be_donated() -> None:
    tree = {"w": W, "table": jax.ShapeDtypeStruct((8,), jnp.int32)}
    step = jax.jit(lambda params: ({"w": params["w"] + 1}, params["table"].sum()), donate_argnums=0)
    said = fails(lambda: compiled(step, tree).donates("params"))
    assert "1 of 2 leaves" in said and "['table']" in said and "['w']" not in said


def promoted(batch: jax.Array, factor: jax.Array) -> jax.Array:
    scaled = batch * factor
    return jnp.tanh(scaled).sum()


def test_dtypes_of_a_line_by_number_and_by_its_text() -> None:
    half, whole = (jax.ShapeDtypeStruct((64, 1024), kind) for kind in (jnp.bfloat16, jnp.float32))
    good, wrong = compiled(promoted, half, half), compiled(promoted, half, whole)
    assert good.dtype_of("batch * factor") == {"bf16"}
    assert "f32" in wrong.dtype_of("batch * factor")
    number = promoted.__code__.co_firstlineno + 1
    assert good.dtype_of(number) == good.dtype_of(f"test_compiled_program.py:{number}") == {"bf16"}
    assert "there are some of" in fails(lambda: good.dtype_of("no such text"))


@pytest.mark.parametrize("plant", [planted.table_in_a_closure, planted.wide_positions, planted.same_key_twice])
def test_a_planted_finding_is_red_with_its_line_and_other_kinds_are_green(plant: Callable[[], Planted]) -> None:
    fn, arguments, kind, target = plant()
    program = compiled(fn, *arguments, target=target)
    said = fails(lambda: program.no_finding(kind.value))
    found = next(one for one in program.inspection.findings if one.kind is kind)
    assert kind.value in said and found.text[:60] in said and found.line in said
    assert kind.value in fails(program.no_finding)
    program.no_finding("donation unused")


@every_target
def test_a_missing_donation_is_a_finding_and_its_twin_has_none(target: str) -> None:
    needs(target)
    compiled(donated, W, X, target=target).no_finding("missing donation", "captured constant")
    program = compiled(kept, W, X, target=target)
    assert "params" in fails(lambda: program.no_finding("missing-donation"))


def test_what_is_unknown_fails_as_unknown_with_the_reason() -> None:
    def until(x: jax.Array) -> jax.Array:
        return jax.lax.while_loop(lambda y: y.sum() < 100, lambda y: y @ y, x)

    said = fails(lambda: compiled(until, W).flops(at_most="1 PFLOP"))
    assert "FLOPs is unknown: the while loop" in said and "unknown length" in said


def test_a_kind_that_could_not_be_looked_for_is_no_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compiled(loss, W, X)
    program.no_finding()
    failed = dataclasses.replace(program.inspection.findings, found=(), failures=("slow pass: the worker ended",))
    monkeypatch.setattr(type(program.inspection), "findings", property(lambda _: failed))
    said = fails(program.no_finding)
    assert "is unknown: 1 kind could not be looked for" in said and "the worker ended" in said


def test_a_range_is_too_much_where_its_most_is() -> None:
    def either(x: jax.Array) -> jax.Array:
        return jax.lax.cond(x[0, 0] > 0, lambda y: y @ y, lambda y: y, x)

    program = compiled(either, W)
    program.flops(at_most=program.inspection.cost.work.flops_range.most or 0)
    assert "the conditional" in fails(lambda: program.flops(at_most="1 GFLOP"))


def test_names_of_xla_s_play_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module with every instruction renamed passes and fails as before."""
    step = sharded("cpu:4", P("data"))
    module = step.inspection.program.module
    renamed = dataclasses.replace(module, names=[b"renamed.%d" % at for at in range(len(module.names))])
    monkeypatch.setattr(Program, "module", property(lambda _: renamed))
    step = sharded("cpu:4", P("data"))
    step.collectives(at_most={"all-reduce": 1, "all-gather": 0}).donates("params").no_finding("promotion")
    assert "1 all-reduce" in fails(lambda: step.collectives(at_most={"all-reduce": 0}))
    assert step.inspection.collectives.table["instruction"][0].startswith("renamed.")


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (
            lambda one: one.collectives(at_most={"allgather": 0}),
            "no kind 'allgather'; there are all-reduce, all-gather",
        ),
        (lambda one: one.memory(at_most="14 gallons"), "is not an amount of B"),
        (lambda one: one.memory(at_most=-1), "is not an amount of B"),
        (lambda one: one.flops(at_most="1 GB"), "is not an amount of FLOP"),
        (lambda one: one.no_finding("promotoin"), "no kind 'promotoin'; there are"),
    ],
)
def test_a_mistake_in_an_assertion_is_one_line(mistake: Callable[[CompiledProgram], Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        mistake(compiled(loss, W, X))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "number"),
    [("14 GiB", 14 * 1024**3), ("14GB", 14e9), ("1,000", 1000), ("2e3 B", 2000), (7, 7), ("1 k", 1e3)],
)
def test_amounts(text: str, number: float) -> None:
    from jaxstage_ext.testing.quantity import quantity

    assert quantity(text, "B") == number


@pytest.fixture
def compiles() -> Iterator[list[float]]:
    """Seconds of each compile of XLA's in this process."""
    seen: list[float] = []

    def heard(event: str, seconds: float, **_: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            seen.append(seconds)

    jax.monitoring.register_event_duration_secs_listener(heard)
    yield seen
    jax.monitoring.unregister_event_duration_listener(heard)


def test_a_program_is_compiled_once_for_ten_tests(compiles: list[float]) -> None:
    step = jax.jit(lambda params, batch: update(params, batch) * 3)
    for _ in range(10):
        compiled(step, W, X).memory(at_most="1 GB").flops(at_most="1 GFLOP").collectives(at_most={"all-gather": 0})
    assert len(compiles) == 1
