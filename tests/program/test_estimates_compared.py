"""Estimated times in Compare: beside the bound, with a ratio, and only where something estimates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.profiling.predictions.predicted_timeline_wording import estimate
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.comparing.comparison_table import Comparison
from jaxstage_ext.program.comparing.comparison_wording import of_targets
from jaxstage_ext.program.predicting import chosen_timeline, time_estimate
from jaxstage_ext.program.questions import answers
from jaxstage_ext.program.questions.predicted import predicted
from jaxstage_ext.report.prediction import Estimator
from tests.helpers.panel_requests import ask
from tests.helpers.predicted_recordings import Planned, predicted_timeline


def made(seconds: float, estimator: Estimator = Estimator.XLA) -> Timeline:
    timeline = predicted_timeline([Planned("dot.1", 0, 1)], seconds=seconds)
    about = timeline.recording.prediction
    assert about is not None
    return replace(timeline, recording=replace(timeline.recording, prediction=replace(about, estimator=estimator)))


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(chosen_timeline, "can_be_predicted", lambda one: True)
    return inspect(jnp.tanh, jnp.ones(8), target=["local", "cpu:2"])


def test_it_is_a_column_only_where_a_time_is_estimated(two: Any) -> None:
    assert "estimate" not in two.compare().columns
    predicted_of(two, "local", made(2e-3))
    table = two.compare()
    assert table["estimate"] == [2e-3, None] and table.reasons[1, "estimate"]
    again = Comparison.from_dict(table.to_dict())
    assert again["estimate"] == [2e-3, None] and again.columns["estimate"].title == table.columns["estimate"].title


def test_estimates_of_xla_are_ranked_and_ours_is_not_among_them(two: Any) -> None:
    predicted_of(two, "local", made(2e-3))
    predicted_of(two, "cpu:2", made(3e-3))
    assert {place for place in two.compare().marks if place[1] == "estimate"} == {(0, "estimate"), (1, "estimate")}
    predicted_of(two, "cpu:2", made(3e-3, Estimator.OWN))
    assert not [place for place in two.compare().marks if place[1] == "estimate"]


def test_the_targets_are_ranked_by_xlas_estimates_where_all_have_one(two: Any) -> None:
    predicted_of(two, "local", made(2e-3))
    assert "estimate" not in two.compare().headline
    predicted_of(two, "cpu:2", made(3e-3))
    assert two.compare().headline == of_targets([("local", 2e-3), ("cpu:2", 3e-3)], [], [], are_estimates=True)
    predicted_of(two, "cpu:2", made(3e-3, Estimator.OWN))
    assert "estimate" not in two.compare().headline


def test_an_answer_that_is_asked_for_reads_what_is_large(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (time_estimate, answers):
        monkeypatch.setattr(module, "can_be_predicted", lambda one: True)
    monkeypatch.setattr(time_estimate, "_is_at_hand", lambda one: True)
    monkeypatch.setattr(predicted, "_compute", lambda one, progress: made(1e-3))
    monkeypatch.setattr(time_estimate, "MOST_INSTRUCTIONS", 0)
    sentences = [ask(two.program, "answer", question=name)[0]["text"] for name in ("time", "bound")]
    assert all("1 ms" in text for text in sentences) and predicted.is_known(two.program)
    assert two.targets["cpu:2"].answers["answer"][0].endswith(estimate(made(1e-3).recording.prediction))


def test_what_is_large_is_not_read_unasked(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_estimate, "can_be_predicted", lambda one: True)
    monkeypatch.setattr(time_estimate, "_is_at_hand", lambda one: True)
    monkeypatch.setattr(predicted, "_compute", lambda one, progress: made(1e-3))
    monkeypatch.setattr(time_estimate, "MOST_INSTRUCTIONS", 0)
    assert time_estimate.time_estimate(two.program).value is None and not predicted.is_known(two.program)
    monkeypatch.setattr(time_estimate, "MOST_INSTRUCTIONS", 1000)
    assert time_estimate.time_estimate(two.program).value == 1e-3


def predicted_of(two: Any, target: str, timeline: Timeline) -> None:
    two.targets[target].program.results.put(predicted, timeline)
