"""The second notebook: four machines that are not here, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import pytest
from absent import needs
from executed_notebooks import NO_COMPILERS, printed, row, run, shown

from jaxstage_ext.analysis.predicted import missing_prediction_wording
from jaxstage_ext.analysis.predicted.missing_prediction_wording import NotPredicted
from jaxstage_ext.core.targets import packages

if TYPE_CHECKING:
    import nbformat


seldom = pytest.mark.seldom(
    "seven compiles of 14 s each; its cells run without these compilers too, and truth/ has the figures"
)


@pytest.fixture(scope="module")
def hardware() -> nbformat.NotebookNode:
    if jax.__version_info__ < (0, 12):
        pytest.skip("it compiles for minutes, so it runs in full with the newest JAX alone")
    return run("02_hardware_you_do_not_have.ipynb")


@seldom
@pytest.mark.timeout(1800)
def test_the_four_machines_are_compared_as_far_as_they_can_be(hardware: nbformat.NotebookNode) -> None:
    table = shown(hardware, "first.compare()")
    assert "unknown" in row(table, "cpu:8")
    for target, kind in (("v5e:2x4", "tpu"), ("v5p:2x2x2", "tpu"), ("h100:8", "cuda")):
        if lacks := packages.find(kind).lacks:
            assert f"{target} {lacks}" in shown(hardware, "def possible")
        else:
            assert row(table, target)


@seldom
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("target", "refused"), [("v5e:2x4", "RESOURCE_EXHAUSTED"), ("h100:8", "no")])
def test_what_is_too_large_fits_with_checkpoint(hardware: nbformat.NotebookNode, target: str, refused: str) -> None:
    needs(target)
    first, second = shown(hardware, "first.compare()"), shown(hardware, "second = None")
    assert refused in (first if refused != "no" else row(first, target))
    assert "yes" in row(second, target)


@seldom
@pytest.mark.timeout(1800)
def test_every_machine_exchanges_gradients(hardware: nbformat.NotebookNode) -> None:
    told = shown(hardware, "EXCHANGE")
    assert "all-reduce" in row(told, "cpu:8")
    assert "FLOP for each byte" in shown(hardware, "CATALOGUE") or packages.find("tpu").lacks


@seldom
@pytest.mark.timeout(1800)
def test_the_timeline_of_the_step_is_predicted(hardware: nbformat.NotebookNode) -> None:
    needs("h100:8")
    assert "Predicted for h100:8, nothing ran" in shown(hardware, "inspection.predicted")


@pytest.mark.timeout(900)
def test_without_compilers_it_says_what_is_missing_and_goes_on() -> None:
    notebook = run("02_hardware_you_do_not_have.ipynb", NO_COMPILERS)
    text = "".join(printed(cell) for cell in notebook.cells if cell.cell_type == "code")
    assert "needs JAX's CUDA plugin: pip" in text
    assert "none was too small" in text
    assert "v5e:2x4 needs libtpu" in text
    assert missing_prediction_wording.why(NotPredicted.NO_SCHEDULER, "cpu:8") in text
