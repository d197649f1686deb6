"""The time of a line has one figure: in the headline, the tables, Answers, the cost table and the margin."""

from __future__ import annotations

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.questions import answers
from jaxstage_ext.program.questions.answers import QUESTIONS
from jaxstage_ext.program.running import measured_wording
from jaxstage_ext.program.running.measured import measured
from jaxstage_ext.program.source import margin
from jaxstage_ext.report.recording import EventKind, EventLane, LaneKind
from jaxstage_ext.report.text.units import share as percent
from jaxstage_ext.report.unavailable import Unavailable
from tests.helpers.recordings import Event, recording

pytestmark = pytest.mark.usefixtures("patient_requests")

RUNS, STRETCH = 3, 1000


def step(x, w):
    h = jnp.tanh(x @ w)
    return (h * 2).sum()


PRODUCT = step.__code__.co_firstlineno + 1


def inspected() -> Inspection:
    shape = jax.ShapeDtypeStruct((256, 256), jnp.float32)
    return inspect(step, shape, shape)


def profiled() -> Inspection:
    """Each instruction of the entry takes 10 µs more than the one before, in each of three runs of 1 ms."""
    inspection = inspected()
    names = instructions(inspection)
    module = inspection.program.module.header.name
    events = [
        Event("thread", name, STRETCH * run + 100 * at, 10 * (at + 1), EventKind.OP, (module, name), 0, run)
        for run in range(RUNS)
        for at, name in enumerate(names)
    ]
    made = recording(events, [EventLane("CPU", "thread", LaneKind.OPS)])
    document = inspection.program.documents["hlo"]
    rows = [inspection.cost.work.places.row[inspection.program.module.names.index(n.encode())] for n in made.ops.name]
    row = np.array(rows, np.int32)
    frame = np.where(row >= 0, document.frame[row], -1).astype(np.int32)
    places = dataclasses.replace(without_places(made), row=row, frame=frame, frames=document.frames)
    inspection.program.timeline = Timeline(made, places)
    return inspection


def instructions(inspection: Inspection) -> list[str]:
    return sorted(inspection.cost.work.table["instruction"])


def test_times_are_per_run_and_device() -> None:
    inspection = profiled()
    times = measured(inspection.program)
    assert times is not None and times.runs == RUNS
    table = inspection.cost.table
    for row, name in enumerate(table["instruction"]):
        seconds = 10e-6 * (instructions(inspection).index(name) + 1)
        assert table["time"][row] == pytest.approx(seconds)
        flops = table["FLOPs"][row] + table["transcendentals"][row]
        assert table["FLOP/s"][row] == pytest.approx(flops / seconds)
        moved = table["bytes read"][row] + table["bytes written"][row]
        assert table["bytes/s"][row] == pytest.approx(moved / seconds)
    assert times.busy == pytest.approx(sum(table["time"]))
    ledger = inspection.cost.ledger
    assert ledger["measured"][list(ledger[""]).index("seconds")] == pytest.approx(times.busy)
    roof = inspection.cost.roofline
    assert dict(zip(roof.names, roof.measured, strict=True)) == pytest.approx(
        dict(zip(table["instruction"], table["time"], strict=True))
    )
    known = np.isfinite(roof.achieved)
    assert known.any() and roof.achieved[known] == pytest.approx((roof.flops / roof.measured)[known])


def test_one_line_has_one_share() -> None:
    inspection = profiled()
    timeline = inspection.program.timeline
    assert timeline is not None
    lines = timeline.by_line()
    line, share = lines["line"][0], lines["share"][0]
    headline = timeline.headline
    assert (headline.line, headline.line_share) == (line, share)
    said = dict(zip(QUESTIONS, inspection.answers["answer"], strict=True))["time"]
    assert said == timeline_wording.sentence(headline) and line in said and percent(share) in said
    marks = margin.time_lane(inspection.program).marks
    python = inspection.program.documents["python"]
    [row] = [row for row, mark in marks["python"].items() if mark.label.startswith(percent(share))]
    assert python.lines[row].strip() == {PRODUCT: "h = jnp.tanh(x @ w)"}.get(
        int(line.rsplit(":")[1]), "return (h * 2).sum()"
    )
    ops = timeline.by_op()
    for op in ops.rows():
        assert marks["hlo"][op["row"]].label.startswith(percent(op["share"]))


def test_what_is_not_profiled_says_so_and_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspected()
    monkeypatch.setattr("jaxstage_ext.profiling.timeline.Timeline.headline", None)
    result, _ = dispatch.answer([inspection.program], "answer", {"call": 0, "question": "time"})
    assert result["text"] == measured_wording.not_measured("step") and result["state"] == "unknown"
    assert "time" not in inspection.cost.table.columns and measured(inspection.program) is None
    assert math.isnan(inspection.cost.ledger["measured"][0])
    with pytest.raises(Unavailable, match=r"run jaxstage_ext\.profile\(step"):
        margin.time_lane(inspection.program)


def test_answers_follow_the_newest_profile() -> None:
    inspection = inspected()
    before = answers.answers(inspection.program)
    inspection.program.timeline = profiled().program.timeline
    after = answers.answers(inspection.program)
    assert before["answer"][:-1] == after["answer"][:-1] and before["answer"][-1] != after["answer"][-1]
    assert after["line"][-1] and after["row"][-1] >= 0


def test_an_instruction_without_events_is_unknown() -> None:
    inspection = profiled()
    timeline = inspection.program.timeline
    assert timeline is not None
    first = timeline.between(0, 15e-6)
    inspection.program.timeline = first
    table = inspection.cost.table
    unknown = [row for row, value in enumerate(table["time"]) if math.isnan(value)]
    assert len(unknown) == len(table) - 1
    assert all(table.reasons[row, name] for row in unknown for name in ("time", "FLOP/s", "bytes/s", "of roof"))
