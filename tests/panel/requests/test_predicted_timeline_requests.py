"""The timeline tab of a call that did not run: a prediction is made when it is asked for, and says what it is."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests.timeline_export_requests import METHODS as EXPORTS
from jaxstage_ext.panel.saving.page_replies import replies
from jaxstage_ext.profiling.predictions import check_wording, predicted_timeline_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program import tabs
from jaxstage_ext.program.predicting import chosen_timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.predicted import predicted
from jaxstage_ext.report.recording import EventKind
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.views import static_html, text
from tests.helpers.panel_requests import ask
from tests.helpers.predicted_recordings import Planned, all_reduce, places, predicted_timeline
from tests.helpers.recordings import Event, recording

PLANNED = (
    Planned("dot.1", 0, 10, line=3, operands=("x",)),
    all_reduce("all-reduce.1", 10, 20, line=4, operands=("dot.1",)),
    Planned("dot.2", 30, 5, line=5, operands=("x",)),
)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Program:
    """A call that nothing is predicted of yet; who asks gets the schedule above."""
    monkeypatch.setattr(chosen_timeline, "can_be_predicted", lambda one: True)
    monkeypatch.setattr(predicted, "_compute", lambda one, progress: predicted_timeline(PLANNED))
    return inspect(jnp.sin, 1.0).program


def profiled(program: Program) -> None:
    events = [Event("s", "dot.1", 0, 14, EventKind.KERNEL, op=("jit_step", "dot.1")), Event("s", "k", 20, 3)]
    made = recording(events, title="step on GPU 0")
    program.timeline = Timeline(made, places(made, {"dot.1": 3}))


def test_it_is_made_when_it_is_asked_for_and_opens_no_tab(program: Program) -> None:
    assert "timeline" in tabs.tabs(program) and tabs.first(program) != "timeline"
    assert not any(key.startswith("timeline") for key in replies(program).replies)
    with pytest.raises(Unavailable, match="Timeline tab"):
        ask(program, "timeline event", event=0)
    assert not predicted.is_known(program)
    overview, _ = ask(program, "timeline")
    assert (overview["predicted"], overview["of"], overview["kinds"]) == (True, "predicted", ["predicted"])
    assert [lane["name"] for lane in overview["lanes"]] == ["compute", "copies", "collectives"]
    assert "timeline {}" in replies(program).replies


def test_the_head_says_that_nothing_ran(program: Program) -> None:
    head, _ = ask(program, "timeline head")
    made = predicted(program)
    assert made.recording.prediction is not None
    assert head["predicted"] == predicted_timeline_wording.banner(made.recording.prediction)
    assert head["headline"] and head["predicted"] not in head["headline"]
    assert head["tables"] == ["lines", "exposed", "ops", "scopes", "kinds", "gaps"]
    assert predicted_timeline_wording.LEFT_OUT in head["notes"]


@pytest.mark.parametrize("table", ["lines", "exposed", "ops", "scopes", "kinds", "gaps"])
def test_each_table_has_rows(program: Program, table: str) -> None:
    result, _ = ask(program, "timeline table", table=table)
    assert result["total"] >= 1


def test_all_other_requests_work_on_it(program: Program) -> None:
    ask(program, "timeline")
    found, _ = ask(program, "timeline search", query="all-reduce", page=0)
    assert found["total"] == 1
    assert ask(program, "timeline event", event=0)[0]["name"] == "dot.1"
    assert ask(program, "timeline detail", event=0)[0]["line"] == "train.py:3"
    ask(program, "timeline tile", level=0, tile=0, lanes="0 1 2")
    for name in ("chrome", "speedscope", "csv", "svg"):
        assert ask(program, next(iter(EXPORTS)), format=name, table="lines")[0]["bytes"]


def test_beside_a_profile_both_can_be_chosen_and_the_measured_is_first(program: Program) -> None:
    profiled(program)
    overview, _ = ask(program, "timeline")
    assert (overview["predicted"], overview["kinds"]) == (False, ["measured", "predicted"])
    assert ask(program, "timeline", of="predicted")[0]["predicted"] is True
    with pytest.raises(BadRequest, match="of must be"):
        ask(program, "timeline", of="guessed")


def test_a_prediction_is_compared_with_what_was_measured(program: Program) -> None:
    profiled(program)
    ask(program, "timeline", of="predicted")
    compared, _ = ask(program, "timeline compare", by="ops", before="", after="")
    assert [part["key"] for part in compared["parts"]] == ["call 0", "predicted 0"]
    assert compared["headline"] == check_wording.headline(predicted(program).against(_measured(program)))
    assert compared["total"] == 3


def _measured(program: Program) -> Timeline:
    assert program.timeline is not None
    return program.timeline


def test_still_forms_show_it_once_somebody_has_looked(program: Program) -> None:
    def forms() -> list[Any]:
        return [str(text.panel_text([program])), str(static_html.panel_html([program]))]

    assert not any("nothing ran" in form for form in forms())
    predicted(program)
    assert not any("nothing ran" in form for form in forms()), "its time alone is known for the header"
    ask(program, "timeline")
    assert all("nothing ran" in form for form in forms())
