"""The head, the tables, the comparison and the files of the timeline tab, of recordings whose figures are known."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from typing import Any

import numpy as np
import pytest
from helpers.recordings import Event, recording

from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.requests.timeline_table_requests import LONGEST_TEXT, TABLES
from jaxstage_ext.profiling.analysis import comparison_notes, timeline_wording
from jaxstage_ext.profiling.analysis.timeline_comparison import TimesOf
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.report.frames import Frames, SourceFile
from jaxstage_ext.report.recording import EventKind, Loss, Lost
from tests.helpers.wire_columns import columns

DOT, TANH = ("jit_step", "dot.1"), ("jit_step", "fusion.2")
EVENTS = (
    Event("a", "dot.1", 0, 60, op=DOT),
    Event("a", "fusion.2", 60, 20, op=TANH),
    Event("a", "dot.1", 100, 20, op=DOT),
)
STEPS = (
    Event("steps", "train", 0, 80, EventKind.STEP),
    Event("steps", "train", 90, 40, EventKind.STEP),
)


def program(*events: Event, **fields: Any) -> RecordedProgram:
    made = recording(events, **fields)
    known = len(made.ops)
    frame = np.array([0 if name == "dot.1" else 1 for name in made.ops.name], np.int32)
    columns = ([0, 0], [0, 0], [7, 8], [1, 1], [7, 8], [0, 0], [-1, -1], [0, 1])
    frames = Frames((SourceFile("<cell>", "In [2]"),), ("step",), *(np.array(c, np.int32) for c in columns))
    places = OpPlaces(np.full(known, -1, np.int32), frame, np.zeros(known, bool), frame, frame, frames,
                      ("dot", "loop fusion"), ("mlp/dot", "mlp/tanh"))  # fmt: skip
    return RecordedProgram(Timeline(made, places))


def ask(made: RecordedProgram, method: str, **params: Any) -> tuple[dict[str, Any], list[bytes]]:
    result, buffers = dispatch.answer([made], method, {"call": 0, **params})
    while "pending" in result:
        result, buffers = dispatch.answer([made], method, {"call": 0, **params})
    return result, [gzip.decompress(buffer) for buffer in buffers]


def table(made: RecordedProgram, name: str, **params: Any) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    result, buffers = ask(made, "timeline table", table=name, **params)
    return result, columns(result, [*map(gzip.compress, buffers)])


def test_the_head_says_what_takes_the_time_and_what_is_missing() -> None:
    shown = program(*EVENTS, total=10, lost=[Lost(Loss.DROPPED, 7), Lost(Loss.CUT, None, "h1")])
    head, _ = ask(shown, "timeline head")
    headline = shown.timeline.headline
    assert (headline.line, headline.line_share, round(headline.idle, 2)) == ("In [2]:7", 0.8, 0.17)
    assert head["headline"] == timeline_wording.sentence(headline)
    assert head["kept"] == timeline_wording.coverage(3, 10, 1.0, True)
    assert head["losses"] == [
        {"text": "the profiler dropped them", "count": 7},
        {"text": "beyond the limit of events (h1)", "count": None},
    ]
    (device,) = head["devices"]
    assert (device["name"], device["busy"], device["idle"], device["window"]) == ("GPU 0", 1e-4, 2e-5, 1.2e-4)
    assert head["window"].startswith("device busy 100 µs of 120 µs")


def test_lines_by_their_time() -> None:
    result, found = table(program(*EVENTS), "lines")
    assert found["line"] == ["In [2]:7", "In [2]:8"]
    assert found["busy"] == pytest.approx([80e-6, 20e-6])
    assert found["share"] == pytest.approx([0.8, 0.2])
    assert found["count"] == [2, 1]
    assert result["total"] == 2


def test_rates_are_unknown_without_hlo_and_say_why() -> None:
    result, found = table(program(*EVENTS), "ops")
    rate = next(field for field in result["columns"] if field["name"] == "FLOP/s")
    assert rate["dtype"] == "f8" and all(math.isnan(value) for value in found["FLOP/s"])
    assert sum(why is not None for why in found["of roof: why"]) == 2
    assert all("no HLO" in why for why in found["FLOP/s: why"])


def test_a_range_is_summed_alone_and_clipped() -> None:
    _, found = table(program(*EVENTS), "lines", **{"from": 50e-6, "to": 110e-6})
    assert dict(zip(found["line"], found["busy"], strict=True)) == pytest.approx({"In [2]:7": 20e-6, "In [2]:8": 20e-6})


@pytest.mark.parametrize(
    "ends",
    [(1.0, 0.5), (float("nan"), 1), (1, None), ("0", 1), (0, 0), (0, 1e300), (True, 2)],
)
def test_what_is_no_range(ends: Any) -> None:
    with pytest.raises(BadRequest):
        table(program(*EVENTS), "lines", **{"from": ends[0], "to": ends[1]})


def test_gaps_can_be_gone_to() -> None:
    result, found = table(program(*EVENTS), "gaps")
    assert result["spans"] == [pytest.approx((80e-6, 100e-6))]
    assert found["duration"] == pytest.approx([20e-6])


@pytest.mark.parametrize("name", list(TABLES))
def test_every_table_has_an_answer_for_every_recording(name: str) -> None:
    for made in (program(), program(*EVENTS), program(*EVENTS, *STEPS), program(Event("a", "k", 0, 0))):
        result, found = table(made, name)
        assert any(found.values()) or result["nothing"]


def test_an_unknown_table() -> None:
    with pytest.raises(BadRequest, match="no table 'x'"):
        table(program(*EVENTS), "x")


def test_names_are_cut() -> None:
    made = program(Event("a", "k" * 1_000_000, 0, 1))
    _, found = table(made, "kernels")
    assert len(found["kernel"][0]) == LONGEST_TEXT


def test_two_steps_side_by_side() -> None:
    made = program(*EVENTS, *STEPS)
    result, buffers = ask(made, "timeline compare", by="lines", before="", after="")
    found = columns(result, [*map(gzip.compress, buffers)])
    assert (result["before"], result["after"]) == ("step 0", "step 1")
    assert found["line"] == ["In [2]:7", "In [2]:8"]
    assert found["change"] == pytest.approx([-40e-6, -20e-6])
    assert result["headline"].startswith("Self time: 80 µs before, 20 µs after, −60 µs. The largest change: In [2]:7")


@pytest.mark.parametrize("by", ["ops", "kernels", "scopes", "kinds"])
def test_two_steps_by_other_groups(by: str) -> None:
    result, buffers = ask(program(*EVENTS, *STEPS), "timeline compare", by=by, before="step 1", after="step 0")
    assert sum(columns(result, [*map(gzip.compress, buffers)])["change"]) == pytest.approx(60e-6)


def test_two_profiles_side_by_side() -> None:
    one, other = program(*EVENTS), program(*EVENTS[:2], title="faster")
    result, _ = dispatch.answer([one, other], "timeline compare", {"call": 0, "by": "lines", "before": "", "after": ""})
    assert [part["key"] for part in result["parts"]] == ["call 0", "call 1"]


def test_a_step_without_work_is_compared_as_one() -> None:
    made = program(*EVENTS, *STEPS, Event("steps", "idle", 500, 10, EventKind.STEP))
    result, buffers = ask(made, "timeline compare", by="lines", before="step 0", after="step 2")
    assert sum(columns(result, [*map(gzip.compress, buffers)])["change"]) == pytest.approx(-80e-6)


def test_different_quantities_are_not_compared_and_others_can_be_chosen() -> None:
    one, other = program(*EVENTS), program(Event("a", "k", 0, 1, EventKind.KERNEL), title="gpu")
    result, _ = dispatch.answer([one, other], "timeline compare", {"call": 0, "by": "lines", "before": "", "after": ""})
    assert comparison_notes.other_mode(TimesOf.OPS.value, TimesOf.KERNELS.value) in result["nothing"]
    assert len(result["parts"]) == 2


def test_one_step_is_nothing_to_compare() -> None:
    result, _ = ask(program(*EVENTS), "timeline compare", by="lines", before="", after="")
    assert "one step" in result["nothing"] and len(result["parts"]) == 1


def test_the_table_as_a_file() -> None:
    _, (data,) = ask(program(*EVENTS, Event("a", "=cmd()", 200, 1)), "timeline export", format="csv", table="kernels")
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert [row["kernel"] for row in rows] == ["dot.1", "fusion.2", "'=cmd()"]
    assert float(rows[0]["busy (s)"]) == pytest.approx(80e-6)


@pytest.mark.parametrize(("name", "events"), [("chrome", "traceEvents"), ("speedscope", "profiles")])
def test_traces_for_other_viewers(name: str, events: str) -> None:
    result, (data,) = ask(program(*EVENTS), "timeline export", format=name, table="lines")
    assert json.loads(data)[events] and result["name"].endswith(".json")
    _, (part,) = ask(program(*EVENTS), "timeline export", format=name, table="lines", **{"from": 0.0, "to": 6e-5})
    assert b"fusion.2" in data and b"fusion.2" not in part


def test_the_view_as_a_picture() -> None:
    result, (data,) = ask(program(*EVENTS), "timeline export", format="svg", table="lines", **{"from": 0.0, "to": 1e-4})
    assert result["name"] == "timeline.svg" and data.startswith(b"<svg") and b"fusion.2" in data
