"""What an offline page holds of a timeline: its replies, named as the front end asks, without source where so asked."""

from __future__ import annotations

import json

import jax.numpy as jnp
from helpers.recordings import Event, recording

from jaxstage_ext import inspect
from jaxstage_ext.panel.requests import timeline_table_requests
from jaxstage_ext.panel.saving.page_replies import replies
from jaxstage_ext.panel.showing.page import page_html
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.program.tab.tab_requests import PREDICTED_TABLES, TIMELINE_TABLES


def program(name: str = "k") -> RecordedProgram:
    made = recording([Event("a", name, 0, 1, op=("jit_f", "add.1"))])
    return RecordedProgram(Timeline(made, without_places(made)))


def test_it_holds_the_lanes_the_headline_and_every_table() -> None:
    made = program()
    held = replies(made).replies
    assert {"timeline {}", "timeline head {}", 'timeline table {"table":"lines"}'} <= set(held)
    assert made.timeline.headline.op_share == 1
    assert held["timeline head {}"]["result"]["headline"] == timeline_wording.sentence(made.timeline.headline)
    json.dumps(held, allow_nan=False)


def test_every_table_of_a_timeline_is_asked_for() -> None:
    assert {*TIMELINE_TABLES, *PREDICTED_TABLES} == set(timeline_table_requests.TABLES)


def test_paths_of_this_machine_are_not_in_it() -> None:
    text = json.dumps(replies(program("$/home/someone/secret/train.py:3 step")).replies)
    assert "/home/someone" not in text


def test_the_page_has_the_tab_only_where_the_call_was_profiled() -> None:
    assert '"timeline table' in page_html([program()]).replace("\\", "")
    assert "timeline table {" not in page_html([inspect(jnp.sin, 1.0).program])
