"""The twelfth notebook: assertions, rows, the short form, and the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from executed_notebooks import run, shown

if TYPE_CHECKING:
    import nbformat


@pytest.fixture(scope="module")
def in_tests() -> nbformat.NotebookNode:
    return run("12_in_tests_and_scripts.ipynb")


def test_a_failure_names_what_is_too_many_and_the_line(in_tests: nbformat.NotebookNode) -> None:
    text = shown(in_tests, "except AssertionError")
    assert "1 all-reduce, at most 0 allowed" in text and "In [2]:2: all-reduce" in text


def test_rows_have_ids_and_what_was_left_out(in_tests: nbformat.NotebookNode) -> None:
    form = json.loads(shown(in_tests, "print(ins.cost.to_json"))
    assert len(form["rows"]) == 2 and form["left_out"]["rows"] == form["of"] - 2
    assert all(row["id"] for row in form["rows"])


def test_what_is_near_the_heaviest_instruction(in_tests: nbformat.NotebookNode) -> None:
    assert shown(in_tests, "ins.near(").startswith("Near ")


def test_the_short_form_is_short(in_tests: nbformat.NotebookNode) -> None:
    text = shown(in_tests, "_repr_llm_()")
    assert "JAXStage inspection of step" in text and len(text.encode()) <= 2001


def test_the_command_line_finds_the_missing_donation(in_tests: nbformat.NotebookNode) -> None:
    text = shown(in_tests, "done = subprocess")
    assert "[missing donation]" in text and "exit status 1" in text
