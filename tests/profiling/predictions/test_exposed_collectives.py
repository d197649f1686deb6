"""Exposed collectives of schedules made by hand, where each figure can be counted on a drawing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jaxstage_ext.profiling.predictions import exposed_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.prediction import PredictedLoop
from jaxstage_ext.report.recording import EventKind
from tests.helpers.predicted_recordings import Planned, all_reduce, places, predicted_recording, predicted_timeline

MICRO = 1e-6
STEP = (
    Planned("dot.1", 0, 10, line=3, operands=("x",)),
    all_reduce("all-reduce.1", 10, 30, line=4, operands=("dot.1",)),
    Planned("dot.2", 10, 5, line=5, operands=("dot.1",)),  # hides 5 of the 30
    Planned("dot.3", 40, 8, line=6, operands=("all-reduce.1",)),
    Planned("dot.4", 48, 7, line=7, operands=("x",)),  # needs nothing of it
    Planned("dot.5", 55, 2, line=8, operands=("dot.4",)),
    Planned("dot.6", 57, 9, line=8, operands=("dot.3", "dot.5")),
)
"""What hides nothing and does not need the all-reduce: dot.4 and dot.5, 9 µs, most of it at line 7."""


def test_a_collective_is_exposed_where_nothing_is_computed() -> None:
    (row,) = predicted_timeline(STEP).exposed().rows()
    assert (row["collective"], row["line"]) == ("all-reduce.1", "train.py:4")
    assert row["exposed"] == pytest.approx(25 * MICRO) and row["time"] == pytest.approx(30 * MICRO)


def test_what_could_hide_it_comes_after_it_and_does_not_need_it() -> None:
    (row,) = predicted_timeline(STEP).exposed().rows()
    assert row["independent"] == pytest.approx(9 * MICRO) and row["independent line"] == "train.py:7"


def test_work_that_waits_for_it_is_not_independent() -> None:
    waiting = [
        one if one.name != "dot.4" else Planned("dot.4", 48, 7, line=7, operands=("x",), after=("dot.3",))
        for one in STEP
    ]
    (row,) = predicted_timeline(waiting).exposed().rows()
    assert row["independent"] == 0 and row["independent line"] == exposed_wording.NONE


def test_work_that_hides_another_collective_is_not_free() -> None:
    other = all_reduce("all-reduce.2", 48, 7, line=9, operands=("dot.2",))
    first, second = predicted_timeline([*STEP, other]).exposed().rows()
    assert first["collective"] == "all-reduce.1" and first["independent"] == pytest.approx(2 * MICRO)
    assert second["exposed"] == 0


def test_overlapping_collectives_share_the_exposed_time() -> None:
    both = [
        Planned("dot.1", 0, 10, operands=("x",)),
        all_reduce("all-reduce.1", 10, 20, line=4, operands=("dot.1",)),
        all_reduce("all-reduce.2", 15, 25, line=5, operands=("dot.1",)),
    ]
    made = predicted_timeline(both)
    exposed = {row["collective"]: row["exposed"] for row in made.exposed().rows()}
    assert exposed == pytest.approx({"all-reduce.1": 20 * MICRO, "all-reduce.2": 10 * MICRO})
    assert sum(exposed.values()) == pytest.approx(float(made.busy()["exposed collective"][0]))


def test_what_begins_other_work_is_not_exposed_as_xla_counts_it() -> None:
    started = Planned("copy-start.1", 20, 1, EventKind.OTHER, line=4)
    made = predicted_timeline([*STEP, started])
    (row,) = made.exposed().rows()
    assert row["exposed"] == pytest.approx(24 * MICRO)
    assert made.busy()["exposed collective"][0] == pytest.approx(24 * MICRO)


def test_computation_beside_a_loop_is_counted_once_in_a_call() -> None:
    around = Planned("while.1", 0, 30, line=1)
    beside = Planned("async-start.1", 10, 5, EventKind.COPY, line=2)
    unclear = Planned("async-start.2", 20, 8, line=3)
    made = predicted_recording([around, Planned("dot.1", 0, 10, line=2), beside, unclear])
    apart = replace(made, lanes=(*made.lanes, replace(made.lanes[0], name="compute beside")))
    lane = np.where(
        np.array([name == "async-start.2" for name in made.ops.name])[made.events.op], len(made.lanes), made.events.lane
    )
    timeline = Timeline(replace(apart, events=replace(made.events, lane=lane.astype(np.int32))), places(made, {}))
    assert sum(timeline.by_op()["busy"]) == pytest.approx(30 * MICRO)


def test_a_loop_counts_as_often_as_it_runs() -> None:
    inside = [Planned("dot.1", 0, 5, line=2), all_reduce("all-reduce.1", 10, 20, line=4)]
    loop = PredictedLoop("while.1", 12, 30 * MICRO, 5 * MICRO, 30 * MICRO)
    (row,) = predicted_timeline(inside, loops=(loop,)).exposed().rows()
    assert row["iterations"] == 12 and row["time"] == pytest.approx(240 * MICRO)


def test_a_loop_of_unknown_length_says_so() -> None:
    inside = [Planned("dot.1", 0, 5, line=2), all_reduce("all-reduce.1", 10, 20, line=4)]
    table = predicted_timeline(
        inside, loops=(PredictedLoop("while.1", None, 30 * MICRO, 5 * MICRO, 30 * MICRO),)
    ).exposed()
    assert table.figure((0, "iterations")).reason == exposed_wording.UNKNOWN_LOOP
    assert table["time"][0] == pytest.approx(20 * MICRO)


def test_without_the_module_nothing_is_claimed() -> None:
    table = predicted_timeline(STEP, has_module=False).exposed()
    assert table.figure((0, "independent")).reason == exposed_wording.NO_GRAPH
    assert table["exposed"][0] == pytest.approx(25 * MICRO)
