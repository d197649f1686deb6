"""Search in hand-made recordings, whose matches are known."""

from __future__ import annotations

import numpy as np
from helpers.recordings import Event, recording

from jaxstage_ext.profiling.lanes.event_search import matching_events
from jaxstage_ext.profiling.op_places import OpPlaces, without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.frames import Frames, SourceFile


def timeline_with_lines() -> Timeline:
    made = recording(
        [
            Event("b", "Fusion.2", 5, 1, op=("jit_step", "fusion.2")),
            Event("a", "dot.1", 10, 1, op=("jit_step", "dot.1")),
            Event("a", "memcpy", 0, 1),
        ]
    )
    ones = np.array([0, 1], np.int32)
    frames = Frames(
        (SourceFile("<cell>", "In [2]"),),
        ("step",),
        *(np.array(column, np.int32) for column in ([0, 0], [0, 0], [7, 8], [1, 1], [7, 8], [0, 0], [-1, -1], [0, 1])),
    )
    places = OpPlaces(
        ones, ones, np.zeros(2, bool), ones, ones, frames, ("dot", "loop fusion"), ("mlp/dot", "mlp/tanh")
    )
    return Timeline(made, places)


def found(query: str) -> list[str]:
    timeline = timeline_with_lines()
    return [timeline.recording.names[timeline.columns.name[event]] for event in matching_events(timeline, query)]


def test_search_finds_names_whatever_their_case_in_the_order_of_time() -> None:
    assert found("FUSION") == ["Fusion.2"]
    assert found("m") == ["memcpy", "Fusion.2", "dot.1"]  # the scopes of two begin with "mlp"


def test_search_finds_source_lines_and_scopes() -> None:
    names = timeline_with_lines().recording.ops.name
    at_line_7 = "dot.1" if names[0] == "dot.1" else "Fusion.2"
    assert found("[2]:7") == [at_line_7]
    assert len(found("mlp")) == 2


def test_all_words_must_match() -> None:
    assert found("mlp nothing") == []
    assert found("") == found("  ") == []


def test_an_event_without_op_matches_by_its_name_only() -> None:
    made = recording([Event("a", "memcpy", 0, 1), Event("a", "x", 1, 1, op=("m", "late"))])
    timeline = Timeline(made, without_places(made))
    assert matching_events(timeline, "late").tolist() == [1]
