"""Every notebook runs from top to bottom, is committed without outputs, and says what is true."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path
from types import ModuleType

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
every_notebook = pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", NOTEBOOKS / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def first_look(demo: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[nbformat.NotebookNode, Path]:
    page = tmp_path_factory.mktemp("demo") / "demo.html"
    return demo.executed(NOTEBOOKS / "01_first_look.ipynb", page), page


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


@every_notebook
def test_is_committed_without_outputs(path: Path) -> None:
    """Outputs hold times and paths of one machine; the tests make fresh ones."""
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_first_look_shows_a_panel_for_each_call(
    demo: ModuleType, first_look: tuple[nbformat.NotebookNode, Path]
) -> None:
    notebook, _ = first_look
    shown = list(demo.panels(notebook))
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
