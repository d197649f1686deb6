"""The eleventh notebook: two processes, one step that they agree on and one that they do not, their log, the guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from executed_notebooks import run, shown

if TYPE_CHECKING:
    import nbformat

pytest.importorskip("ipyparallel", reason="ipyparallel is not installed here")
pytestmark = pytest.mark.once(
    "two engines and eight seconds of a processor; jobs of both versions are in tests/processes"
)


@pytest.fixture(scope="module")
def several() -> nbformat.NotebookNode:
    return run("11_several_processes.ipynb")


def _number(notebook: nbformat.NotebookNode, holding: str) -> int:
    return int(
        next(cell.execution_count for cell in notebook.cells if holding in cell.source and "execution_count" in cell)
    )


def test_the_step_is_the_same_in_both_and_its_shardings_name_the_processes(several: nbformat.NotebookNode) -> None:
    assert "Processes 0 and 1: the same" in shown(several, "-o same")
    assert "2 devices of 2 processes" in shown(several, "same.shardings")


def test_the_other_step_differs_by_the_index_with_both_lines(several: nbformat.NotebookNode) -> None:
    cell = _number(several, "-o differ")
    text = shown(several, "differ.processes")
    assert f"In [{cell}]:8" in text and f"In [{cell}]:2: rate = 0.1 * (jax.process_index() + 1)" in text
    removed, added = (line for line in text.splitlines() if line[:1] in "-+" and "stablehlo.constant" in line)
    assert "dense<1.0" in removed and "dense<2.0" in added


def test_an_error_in_one_process_is_named_with_its_line(several: nbformat.NotebookNode) -> None:
    text = " ".join(shown(several, "def checked").split())
    assert "ValueError: no batch" in text and f"In [{_number(several, 'def checked')}]:5" in text


def test_the_log_has_the_program_of_both_and_the_guard_stops_the_one_that_differs(
    several: nbformat.NotebookNode,
) -> None:
    assert "total(f32[8,16])" in shown(several, "%compiles --processes")
    timeline = " ".join(shown(several, "jaxstage_ext.load([").replace("│", " ").split())
    assert "Process 1 is the last to begin" in timeline
    assert f"most at In [{_number(several, 'def total')}] below %%px:3" in timeline
    stopped = shown(several, "except ProcessesDisagree")
    assert stopped.count("index of the process") == 2 and "144" not in stopped
    assert "2 processes ended" in shown(several, "%processes stop")
