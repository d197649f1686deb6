"""A panel survives any part of it that fails: what failed says so in one line, and the rest is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from crossed import crossed
from hostile_programs import Endless, Static, X, cases, nested

from jaxstage_ext.api.inspect import inspect, run
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import stages
from jaxstage_ext.panel import jobs, panel_state
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.showing.mimebundle import static_bundle
from jaxstage_ext.program.head import summary as heads
from jaxstage_ext.report.text.bounded_repr import type_name

REPLACED_BY_JAX = ("raises Unsettable", "raises WithoutTraceback")
"""Errors that JAX cannot handle itself: it raises another."""
NAMES = [name for name, _ in cases()]


@pytest.mark.parametrize("name", NAMES)
def test_every_form_of_a_hostile_program_is_made(name: str) -> None:
    function, arguments = dict(cases())[name]
    began = time.thread_time()
    inspection = run(Call(function, arguments))
    assert not inspection.program.is_running
    for text in everything_shown(inspection):
        assert "jaxstage_ext/" not in text, "a frame of ours"
    assert time.thread_time() - began < 10
    if name.startswith("raises "):
        assert inspection.error is not None
        assert name in REPLACED_BY_JAX or inspection.error.type == name.removeprefix("raises ")


def everything_shown(inspection: Inspection) -> list[str]:
    """What a notebook, a terminal and a file show; that it can be made is what is tested."""
    programs = [inspection.program]
    state, bundle = panel_state.state_of(programs, busy=False), static_bundle(programs)
    assert all(stage["state"] != stages.RUNNING for call in state["calls"] for stage in call["stages"])
    assert state["calls"][0]["name"], "it has a name all the same"
    shown = [str(state), repr(inspection), inspection.to_json(), *bundle.values()]
    for method, answer in dispatch.methods().items():
        if not isinstance(answer, jobs.Slow):
            reply, _ = dispatch.reply(programs, {"id": 1, "method": method, "params": {"call": 0, "doc": "python"}})
            assert "result" in reply or "\n" not in reply["error"]["message"]
            shown.append(str(reply))
    return shown


@pytest.mark.parametrize("made", [lambda: ValueError("v"), lambda: SystemExit(1), GeneratorExit], ids=["V", "S", "G"])
def test_inspect_raises_what_the_function_raises(made: Callable[[], BaseException]) -> None:
    error = made()

    def raises(x):
        raise error

    with pytest.raises(type(error)) as raised:
        inspect(raises, X)
    assert raised.value is error
    assert raised.value.inspection.error.type == type_name(error)


def test_a_document_that_jax_cannot_print_costs_only_itself() -> None:
    for depth in range(60, 150, 10):  # at which depth the printer gives up depends on JAX and Python
        inspection = inspect(nested(depth), X)
        head = inspection.summary()
        sizes = {document["kind"]: document["lines"] for document in head["documents"]}
        if sizes["jaxpr"] is None:
            break
    assert sizes["jaxpr"] is None and sizes["stablehlo"] > 5 * depth and sizes["hlo"] > 5
    assert [note for note in head["notes"] if note.startswith("jaxpr unavailable: ") and "RecursionError" in note]
    [flops] = [fact["text"] for fact in head["facts"] if fact["label"] == "FLOPs"]
    assert flops in (f"{X.size * (1 + depth)} FLOP", f"{X.size * 2} FLOP")  # older XLA folds the products into one
    opened = Inspection.from_json(inspection.to_json())
    assert sorted(opened.documents) == ["hlo", "python", "stablehlo"]


PARTS = {
    "signature": "signature",
    "notes": "notes",
    "executable_figures": "facts",
    "_coverage": "coverage",
    "_compare": "compare",
    "_count": "stages",
    "_error": "error",
}
"""The functions of the summary's parts, and the key of what each gives."""
ERRORS = (ValueError, SystemExit, RecursionError, MemoryError, StopIteration)


@pytest.mark.parametrize(("part", "error"), crossed(PARTS, ERRORS))
def test_a_part_that_fails_says_so_in_one_line_and_the_others_are_shown(
    monkeypatch: pytest.MonkeyPatch, part: str, error: type[BaseException]
) -> None:
    inspection = inspect(lambda x: jnp.tanh(x), X, stage="lower" if part != "executable_figures" else "compile")
    whole = inspection.summary()

    def fails(*args: Any) -> Any:
        raise error("the part failed")

    monkeypatch.setattr(heads, part, fails)
    left = inspection.summary()
    key = PARTS[part]
    assert {k: v for k, v in left.items() if k not in (key, "notes")} == {
        k: v for k, v in whole.items() if k not in (key, "notes")
    }
    said = [note for note in left["notes"] if note not in whole["notes"]]
    assert said and all(line.endswith(f"{error.__name__}: the part failed") for line in said)
    assert "the part failed" in repr(inspection)


def test_a_repr_is_asked_once_a_call_and_costs_its_own_text() -> None:
    endless, raising = Endless(), Static(ValueError)
    inspection = run(Call(jax.jit(lambda x, a, b, c: x + 1, static_argnums=(1, 2, 3)), (X, endless, raising, 5)))
    for _ in range(3):
        everything_shown(inspection)
    assert endless.asked == raising.asked == 1
    assert inspection.summary()["signature"] == (
        "<lambda>(x: f32[8], a=<Endless: repr took over 0.5 s>, b=<Static: repr raised ValueError>, c=5) -> f32[8]"
    )


def test_large_arguments_are_not_written_whole() -> None:
    large = tuple(range(10**6))
    made = jax.jit(lambda x, n: x + 1, static_argnums=1)
    inspection = run(Call(made, (X, large)))
    began = time.thread_time()
    assert "n=(0, 1, 2, 3" in inspection.summary()["signature"]
    assert time.thread_time() - began < 0.5
