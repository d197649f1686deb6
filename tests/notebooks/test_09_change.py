"""The ninth notebook: what to change, tried; a state replicated over the batch's axis; what costs the notebook most."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from executed_notebooks import run, shown

from jaxstage_ext.findings.finding_kind import FindingKind

if TYPE_CHECKING:
    import nbformat


@pytest.fixture(scope="module")
def change() -> nbformat.NotebookNode:
    return run("09_what_should_i_change.ipynb")


def test_the_three_things_that_cost_the_step_are_found(change: nbformat.NotebookNode) -> None:
    text = shown(change, "%%compile -o ins")
    assert "table is captured" in text
    assert "params, state are not donated" in text
    assert "scale is f32" in text


def test_each_change_that_can_be_tried_says_what_it_gave(change: nbformat.NotebookNode) -> None:
    text = shown(change, "for finding in ins.findings")
    for kind in (FindingKind.CAPTURED_CONSTANT, FindingKind.MISSING_DONATION, FindingKind.PROMOTION):
        assert re.search(rf"{kind.value} +Tried: ", text)


def test_the_trial_shows_both_programs(change: nbformat.NotebookNode) -> None:
    text = shown(change, "donation.try_()")
    assert "memory needed" in text and "Tried: it saves" in text


def test_state_is_replicated_over_the_axis_of_the_batch(change: nbformat.NotebookNode) -> None:
    text = shown(change, "pod.findings")
    kind = re.escape(FindingKind.REPLICATED_STATE.value)
    assert re.search(rf"\[{kind}\] .*params, m are replicated over the 4 devices of axis data", text)


def test_what_costs_the_notebook_most_names_both_calls(change: nbformat.NotebookNode) -> None:
    text = shown(change, "%findings")
    assert "step" in text and "train" in text
