"""The first notebook: a panel for each call, as text and as a page."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pictured_answers
import pytest
from executed_notebooks import NOTEBOOKS, demo, printed

from tests.showcase.records import read_records

if TYPE_CHECKING:
    import nbformat


@pytest.fixture(scope="module")
def first_look(tmp_path_factory: pytest.TempPathFactory) -> tuple[nbformat.NotebookNode, Path]:
    page = tmp_path_factory.mktemp("demo") / "demo().html"
    return demo().executed(NOTEBOOKS / "01_first_look.ipynb", page), page


def test_the_softmax_line_became_what_the_stored_picture_says(
    first_look: tuple[nbformat.NotebookNode, Path],
) -> None:
    for picture in pictured_answers.comparable_pictures("01_first_look"):
        notebook, _ = first_look
        cell = next(cell for cell in notebook.cells if "lines_from" in cell.source)
        fusions = len(printed(cell).splitlines())
        assert f" {fusions} fusions" in read_records()[picture.name].answer


def test_first_look_shows_a_panel_for_each_call(first_look: tuple[nbformat.NotebookNode, Path]) -> None:
    notebook, _ = first_look
    shown = list(demo().panels(notebook))
    assert len(shown) == 2
    assert "loss(w: f32[128,512], x: f32[8,128]) -> f32[]" in shown[0]
    assert all("compile" in text for text in shown)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the text speaks of the fusions that XLA makes on x86")
def test_the_softmax_line_becomes_the_three_fusions_of_the_text(
    first_look: tuple[nbformat.NotebookNode, Path],
) -> None:
    notebook, _ = first_look
    cell = next(cell for cell in notebook.cells if "lines_from" in cell.source)
    lines = printed(cell).splitlines()
    assert len(lines) == 3
    assert all("fusion(" in line for line in lines)


def test_first_look_as_a_page(first_look: tuple[nbformat.NotebookNode, Path]) -> None:
    _, page = first_look
    assert "jax.nn.softmax" in page.read_text()
    assert page.stat().st_size < 1_000_000
