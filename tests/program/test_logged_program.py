"""A line of the compile log opens as a program without compiling again."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest
from jax import monitoring

import jaxstage_ext
from jaxstage_ext.api.inspect import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Artefacts, Asker, CompileRecord, Entry
from jaxstage_ext.program.kinds.logged_program import logged_program
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache


@pytest.fixture
def log() -> Iterator[ModuleType]:
    was_on = listening.is_on()
    listening.start()
    yield listening
    if not was_on:
        listening.stop()


@functools.partial(jax.jit, static_argnames="repeats")
def logged_step(params: dict[str, jax.Array], x: jax.Array, repeats: int = 2) -> jax.Array:
    y = jnp.sin(x) @ params["w"]
    for _ in range(repeats):
        y = jnp.tanh(y) * 2
    return jnp.sum(y)


PARAMS, X = {"w": jnp.ones((8, 8))}, jnp.ones((4, 8))


def newest(name: str) -> CompileRecord:
    return [record for record in LOG if record.name == name][-1]


def backend_compiles() -> list[str]:
    """The names of JAX's compile events from now on."""
    heard: list[str] = []

    def hear(event: str, duration: float, **_: object) -> None:
        if "backend_compile" in event or "trace_duration" in event:
            heard.append(event)

    monitoring.register_event_duration_secs_listener(hear)
    return heard


def test_it_has_what_an_inspection_of_the_call_has_and_compiles_nothing(log: ModuleType) -> None:
    logged_step.clear_cache()
    logged_step(PARAMS, X)
    record, heard = newest("logged_step"), backend_compiles()
    opened = Inspection(logged_program(record))
    figures = {kind: document.text for kind, document in opened.documents.items() if kind != "python"}
    lines = [opened.documents["hlo"].source_of(row + 1) for row in range(len(opened.documents["hlo"]))]
    summary, by_line = opened.summary(), opened.cost.by("line").to_json()
    assert heard == []
    was_enabled = cache.enabled()
    cache.enable(False)
    expected = inspect(logged_step, PARAMS, X)
    cache.enable(was_enabled)
    assert figures == {kind: expected.documents[kind].text for kind in ("jaxpr", "stablehlo", "hlo")}
    assert lines == [expected.documents["hlo"].source_of(row + 1) for row in range(len(lines))]
    assert by_line == expected.cost.by("line").to_json()
    assert opened.coverage == expected.coverage
    assert summary["facts"] == expected.summary()["facts"]
    assert [stage["count"] for stage in summary["stages"]] == [s["count"] for s in expected.summary()["stages"]]
    assert summary["signature"] == "logged_step({'w': f32[8,8]}, f32[4,8])"
    assert any(
        "nothing was compiled" in note and "jaxstage_ext.inspect(logged_step, ...)" in note for note in summary["notes"]
    )


def test_what_needs_a_recompile_says_so(log: ModuleType) -> None:
    logged_step.clear_cache()
    logged_step(PARAMS, X, repeats=3)
    opened = Inspection(logged_program(newest("logged_step")))
    assert not {"memory", "passes", "machine"} & set(opened.summary()["views"])
    for ask in (lambda: opened.memory, lambda: opened.passes, lambda: opened.kernels):
        with pytest.raises(Unavailable):
            ask()
    with pytest.raises(ValueError, match="keeps no arguments"):
        opened.execute()


def test_a_program_that_only_lowered_opens_as_far_as_it_came(log: ModuleType) -> None:
    jax.jit(lambda x: x * 3 + 1, inline=False).lower(X)
    record = [record for record in LOG if record.name == "<lambda>"][-1]
    opened = Inspection(logged_program(record))
    assert list(opened.documents) == ["python", "jaxpr", "stablehlo"]
    assert opened.cost.equations is not None


def test_dropped_artefacts_are_said_with_what_to_do(log: ModuleType) -> None:
    record = CompileRecord(7, "step", 0.0, 0, Entry.CALL, Asker.USER, artefacts=Artefacts())
    with pytest.raises(Unavailable, match=r"newest 32 compiles, and #7 .* jaxstage_ext\.inspect\(step, \.\.\.\)"):
        logged_program(record)
    record.failed = "TypeError: no"
    with pytest.raises(Unavailable, match="#7 failed before JAX had made anything of it: TypeError: no"):
        logged_program(record)


def test_two_lines_are_compared_without_compiling(log: ModuleType) -> None:
    logged_step.clear_cache()
    logged_step(PARAMS, X)
    first = newest("logged_step").number
    logged_step(PARAMS, jnp.ones((16, 8)))
    second, heard = newest("logged_step").number, backend_compiles()
    compared = jaxstage_ext.compiles().compare(second, first)
    assert heard == []
    assert [*compared.documents] == ["jaxpr", "stablehlo", "hlo"]
    assert compared.before.endswith("logged_step({'w': f32[8,8]}, f32[4,8])")
    assert compared.after.endswith("logged_step({'w': f32[8,8]}, f32[16,8])")
    text = repr(compared)
    assert "-     c:f32[4,8] = sin b" in text
    assert "+     c:f32[16,8] = sin b" in text
    html = compared._repr_html_()
    assert "-&gt; (tensor&lt;f32&gt;" in html
    assert "<del>  -     c:f32[4,8] = sin b</del>" in html


def test_an_unknown_number_names_those_that_there_are(log: ModuleType) -> None:
    logged_step.clear_cache()
    logged_step(PARAMS, X)
    with pytest.raises(KeyError, match=r"the compile log has no #0; it holds #\d+ to #\d+"):
        jaxstage_ext.compiles().inspect(0)
    assert jaxstage_ext.compiles().inspect(newest("logged_step").number).name == "logged_step"
