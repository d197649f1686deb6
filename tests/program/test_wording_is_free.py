"""Nothing is decided by wording: with every sentence replaced, all verdicts, kinds, lines and rows stay the same."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P
from wordings import OTHER, silence

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.analysis.memory import memory_tables
from jaxstage_ext.panel import jobs
from jaxstage_ext.program.questions import answers
from jaxstage_ext.program.source import margin

pytestmark = pytest.mark.usefixtures("no_workers_left")


@pytest.fixture
def other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch.setattr)
    monkeypatch.setattr(jobs, "STOPPED", OTHER)


def loss(w: Any, v: Any, x: jax.Array) -> jax.Array:
    h = jnp.tanh(x @ w)
    h = jax.lax.with_sharding_constraint(h, P(None, "data"))
    return (h.astype(jnp.bfloat16) @ v.astype(jnp.bfloat16)).astype(jnp.float32).sum()


def made() -> Inspection:
    shapes = (jax.ShapeDtypeStruct(sizes, jnp.float32) for sizes in ((64, 128), (128, 32), (256, 64)))
    specs = (P(None, "model"), P("model", None), P("data", None))
    return inspect(jax.grad(loss), *shapes, target="cpu:8", mesh="data=4,model=2", in_specs=specs)


def decided(inspection: Inspection) -> dict[str, Any]:
    """Everything that is decided about a program, without a sentence."""
    memory, roof, collectives = inspection.memory, inspection.cost.roofline, inspection.collectives
    program = inspection.program
    asked = [ask(program) for _, ask in answers.QUESTIONS.values()]
    beside, warned, places = margin.warnings(program)
    lanes = [beside, margin.sharding_lane(program), margin.dtype_lane(program)]
    return {
        "answers": [(answer.state, answer.line, answer.row, answer.view) for answer in asked],
        "fit": (memory.fit.verdict, memory.fit.fits, memory.fit.needed),
        "advice": [(advice.kind, advice.bytes, advice.names, advice.line) for advice in memory.suggestions],
        "differing": memory.differing,
        "residuals": memory_tables.by_line(memory.residual_arrays())["size"].tolist(),
        "bound": (roof.bounded_by, roof.outcome, roof.bound),
        "causes": [[(cause.kind, cause.users, cause.lines) for cause in row.causes] for row in collectives.rows],
        "exposed": collectives.exposed,
        "warnings": [(warning.kind, warning.line, warning.rows) for warning in warned],
        "places": places,
        "chosen by": [value.chosen_by for value in inspection.shardings.values],
        "marks": [
            {kind: [(row, m.kind) for row, m in its.items()] for kind, its in lane.marks.items()} for lane in lanes
        ],
    }


@pytest.fixture(scope="module")
def usual() -> dict[str, Any]:
    return decided(made())


def test_the_program_has_something_to_say(usual: dict[str, Any]) -> None:
    kinds = {kind for kind, *_ in usual["warnings"]}
    assert "resharding" in kinds and usual["advice"] and usual["residuals"] and len(usual["causes"]) > 1


@pytest.mark.usefixtures("other_words")
def test_what_is_decided_does_not_depend_on_words(usual: dict[str, Any]) -> None:
    inspection = made()
    assert decided(inspection) == usual
    assert inspection.collectives.headline == inspection.memory.fit.text == inspection.dtypes.headline == OTHER


@pytest.mark.usefixtures("other_words")
def test_a_stopped_job_is_known_by_its_kind() -> None:
    job = jobs.Job(lambda *_: job.progress.check() or ({}, []), (), {})
    job.progress.stop()
    job.start({})
    assert job.done.wait(60) and job.failure is not None
    assert (job.failure.kind, str(job.failure)) == ("stopped", OTHER)
