"""A training step on eight H100s that are not here: XLA's estimate is one figure in every view, and says whose."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P
from panel_requests import ask

import jaxstage_ext
from jaxstage_ext.program import tabs
from jaxstage_ext.report.prediction import Estimator, Means
from jaxstage_ext.report.text.units import duration

pytestmark = pytest.mark.usefixtures("kept_answers")


def step(weights: Any, x: Any, y: Any) -> Any:
    def loss(weights: Any) -> Any:
        h = x
        for w in weights:
            h = jnp.tanh(h @ w)
        return jnp.mean((h - y) ** 2)

    return jax.tree.map(lambda w, g: w - 0.1 * g.astype(w.dtype), weights, jax.grad(loss)(weights))


@functools.cache
def staged() -> Any:
    needs("h100:8")
    weights = [jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in ((1024, 4096), (4096, 1024))]
    batch = jax.ShapeDtypeStruct((2048, 1024), jnp.bfloat16)
    specs = {"x": P("data"), "y": P("data")}
    return jaxstage_ext.inspect(step, weights, batch, batch, target="h100:8", mesh="data=8", in_specs=specs)


def test_the_estimate_stands_in_every_view() -> None:
    inspection = staged()
    about = inspection.predicted.recording.prediction
    assert (about.estimator, about.target) == (Estimator.XLA, "h100:8") and about.means is not Means.UNKNOWN
    shown = duration(about.seconds)
    facts = {fact["label"]: fact["text"] for fact in inspection.summary()["facts"]}
    assert facts["XLA's estimate"] == shown
    bound, _, _, collective, time = inspection.answers["answer"]
    assert f"XLA's estimate: {shown} a call" in bound and "By XLA's estimate" in collective and shown in time
    assert inspection.row().figures["estimate"].value == about.seconds
    assert ask(inspection.program, "ledger")[0]["verdict"].endswith("never compared with a device.")
    assert ask(inspection.program, "timeline head")[0]["predicted"].startswith("Predicted for h100:8, nothing ran")
    assert tabs.first(inspection.program) != "timeline"


def test_the_bound_is_below_the_estimate_and_both_are_named() -> None:
    inspection = staged()
    assert inspection.cost.roofline.total <= inspection.row().figures["estimate"].value
    assert "lower bound" in inspection.answers["answer"][0]


def test_exposed_times_add_up_to_what_xla_counts() -> None:
    made = staged().predicted
    table = made.exposed()
    assert sum(table["exposed"]) == pytest.approx(made.recording.prediction.exposed, rel=1e-3)
    lines = {str(line).rpartition(":")[2] for line in table["line"]}
    assert lines == {str(step.__code__.co_firstlineno + 4)}, "the products whose gradients are summed stand there"


def test_cost_has_it_by_instruction_and_by_line() -> None:
    inspection = staged()
    by_instruction = inspection.cost.table
    by_line = inspection.cost.by("line")
    assert {"estimated"} <= set(by_instruction.columns) & set(by_line.columns)
    of_line = {row["line"]: row["estimated"] for row in by_line.rows()}
    op_of_line = {row["line"]: row["busy"] for row in inspection.predicted.by_line().rows()}
    for line, seconds in op_of_line.items():
        if line in of_line:
            assert of_line[line] == pytest.approx(seconds)
