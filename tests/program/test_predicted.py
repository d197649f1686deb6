"""The predicted timeline of real compiles, against XLA's own file of the same compile and its sums."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.predicted import missing_prediction_wording
from jaxstage_ext.analysis.predicted.missing_prediction_wording import NotPredicted
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.recompile import recompiled_schedule
from jaxstage_ext.ir.schedules import written_schedule
from jaxstage_ext.profiling.op_places import ModuleMatch
from jaxstage_ext.report.prediction import Estimator, Means
from jaxstage_ext.report.recording import EventKind
from jaxstage_ext.report.unavailable import Unavailable

pytestmark = pytest.mark.usefixtures("kept_answers")
SHAPE = jax.ShapeDtypeStruct


def step(params: Any, x: Any) -> Any:
    def loss(params: Any) -> Any:
        h = x
        for w in params:
            h = jnp.tanh(h @ w)
        return jnp.mean(h.astype(jnp.float32) ** 2)

    return jax.tree.map(lambda a, b: a - (0.1 * b).astype(a.dtype), params, jax.grad(loss)(params))


GIVEN = ([SHAPE((2048, 2048), jnp.bfloat16)] * 3, SHAPE((8192, 2048), jnp.bfloat16))


def inspected(target: str, given: Any = GIVEN, function: Any = step, **more: Any) -> Inspection:
    needs(target)
    return inspect(function, *given, target=target, mesh="data=8", in_specs={"x": P("data")}, **more)


@pytest.fixture(scope="module")
def on_h100() -> Inspection:
    made = inspected("h100:8")
    _ = made.predicted  # while the inspection cache has what its compile gave
    return made


def refusal(inspection: Inspection) -> str:
    with pytest.raises(Unavailable) as refused:
        _ = inspection.predicted
    return refused.value.reason


def test_what_is_shown_is_what_xla_dumped(on_h100: Inspection) -> None:
    timeline = on_h100.predicted
    dumped = recompiled_schedule.dumped(on_h100.program.staged, False)
    assert dumped.proto is not None and dumped.is_of_shown
    written = written_schedule.read(dumped.proto)
    (one,) = written.computations
    costs = dict(zip(written.module.rows_of_ids(one.ids).tolist(), one.cost.tolist(), strict=True))
    by_name = {written.module.names[row].decode(): cost for row, cost in costs.items()}
    rows = [row for row in timeline.by_op().rows() if row["activity"] == "compute"]
    assert {row["op"]: round(row["total"] * 1e6, 4) for row in rows} == {
        name: pytest.approx(cost, abs=1e-3)
        for name, cost in by_name.items()
        if cost and not name.endswith("start") and "-start." not in name and "-done" not in name
    }
    assert len(rows) >= 10


def test_the_prediction_says_what_it_rests_on(on_h100: Inspection) -> None:
    about = on_h100.predicted.recording.prediction
    assert about is not None and about.seconds is not None and about.exposed is not None
    assert (about.estimator, about.means, about.target) == (Estimator.XLA, Means.TABLES, "h100:8")
    assert about.matched > 0.99 and not about.unknown and not about.weighted and about.network == ""
    (time,) = on_h100.predicted.device_times
    assert time.exposed_collective == pytest.approx(about.exposed * 1e12, rel=0.01, abs=5e6)
    assert time.window[1] <= about.seconds * 1e12 + 1 and about.seconds > on_h100.cost.roofline.total


def test_every_instruction_has_a_row_and_a_line(on_h100: Inspection) -> None:
    timeline = on_h100.predicted
    assert timeline.places.match is ModuleMatch.SAME and (timeline.places.row >= 0).all()
    lines = {row["line"] for row in timeline.by_line().rows()}
    assert all(line and "test_predicted.py:" in line for line in lines)
    kinds = {EventKind(kind) for kind in np.unique(timeline.events.kind).tolist()}
    assert kinds <= {EventKind.OP, EventKind.COLLECTIVE, EventKind.OTHER}
    assert len(timeline.recording.counters) == 1 and timeline.recording.counters[0].value.max() > 0


def test_tpu_times_are_cycles_over_the_clock_of_its_core() -> None:
    inspection = inspected("v5e:2x4")
    timeline = inspection.predicted
    about = timeline.recording.prediction
    assert about is not None and about.estimator is Estimator.OWN and about.weighted > 0
    rows = {row["op"]: row["total"] for row in timeline.by_op().rows()}
    cycles = {}
    for line in inspection.program.executable.text.splitlines():
        name, _, rest = line.strip().removeprefix("ROOT ").partition(" = ")
        if '"estimated_cycles":"' in rest and name.removeprefix("%") in rows:
            cycles[name.removeprefix("%")] = int(rest.partition('"estimated_cycles":"')[2].partition('"')[0])
    assert len(cycles) >= 5
    expected = {name: pytest.approx(count / 1.5e9, rel=1e-6) for name, count in cycles.items()}
    assert {name: rows[name] for name in cycles} == expected


def test_why_there_is_none_is_said(on_h100: Inspection) -> None:
    assert "no times for this program on b300:8" in refusal(inspected("b300:8"))
    assert "for a100:8" in refusal(inspected("a100:8"))
    assert "for cpu:8" in refusal(inspected("cpu:8"))
    off = inspected("h100:8", compiler_options={"xla_gpu_enable_latency_hiding_scheduler": False})
    if not recompiled_schedule.dumped(off.program.staged, False).size:  # JAX 0.10's XLA schedules all the same
        assert "xla_gpu_enable_latency_hiding_scheduler=false" in refusal(off)
    assert "named as the target" in refusal(inspect(lambda x: x + 1, jnp.ones(3)))


def test_a_saved_inspection_says_that_it_holds_none(on_h100: Inspection) -> None:
    """Its header has the estimate, so what it lacks is the timeline and no compile."""
    with pytest.raises(Unavailable) as refused:
        _ = Inspection.from_json(on_h100.to_json()).predicted
    assert str(refused.value) == missing_prediction_wording.why(NotPredicted.SAVED)


def test_a_program_without_anything_beside_has_none() -> None:
    needs("h100")
    alone = inspect(lambda x: jnp.tanh(x @ x), SHAPE((256, 256), jnp.float32), target="h100")
    assert "this one has none" in refusal(alone)
