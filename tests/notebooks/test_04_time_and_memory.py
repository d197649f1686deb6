"""The fourth notebook: cost, residuals, checkpoints; for an H100 and for this machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import jax
import pytest
from absent import needs
from executed_notebooks import NO_COMPILERS, figures, run, shown

from jaxstage_ext.analysis.cost import cost_wording

if TYPE_CHECKING:
    import nbformat

WHERE = "04_where_the_time_and_memory_go.ipynb"


ON_H100 = pytest.param("h100", marks=pytest.mark.seldom("four GPU compiles of 20 s each, of cells that run here too"))


@pytest.fixture(scope="module", params=[ON_H100, "local"])
def where(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    if request.param == "local":
        return run(WHERE, NO_COMPILERS)
    if jax.__version_info__ < (0, 12):
        pytest.skip("GPU compiles take long, so they run with the newest JAX alone")
    needs("h100")
    return run(WHERE)


@pytest.mark.timeout(1800)
def test_the_roofline_has_a_verdict_where_the_peaks_are_known(where: nbformat.NotebookNode) -> None:
    verdict = shown(where, "roofline.verdict")
    is_there = "h100 needs" not in shown(where, "first_possible")
    assert ("memory" if is_there else cost_wording.no_peaks("this kernel's cpu")) in verdict


@pytest.mark.timeout(1800)
def test_the_ledger_tells_that_xla_counted_one_of_twelve_layers(where: nbformat.NotebookNode) -> None:
    text = shown(where, "ins.cost.ledger")
    jaxpr, hlo, xla = figures(text, "FLOPs")
    assert hlo == pytest.approx(jaxpr, rel=0.1)
    assert xla < hlo / 4
    assert "XLA counts the body of a loop once" in text


@pytest.mark.timeout(1800)
def test_the_largest_residuals_come_from_the_attention(where: nbformat.NotebookNode) -> None:
    assert " residual " in shown(where, "ins.memory.peak_set")
    first = shown(where, "ins.memory.residuals()").splitlines()[1]
    cell = next(cell for cell in where.cells if "class Block" in cell.source)
    line = int(first.rpartition(":")[2])
    assert "MultiHeadDotProductAttention" in cell.source.splitlines()[line - 1]


@pytest.mark.timeout(1800)
def test_checkpoint_buys_memory_with_flops(where: nbformat.NotebookNode) -> None:
    before, after = shown(where, "def told").split("donated, with checkpoint")
    needed = [float(re.search(r"needs ([\d.]+) GB", text)[1]) for text in (before, after)]  # type: ignore[index]
    flops = [float(re.search(r"([\d.]+) TFLOP", text)[1]) for text in (before, after)]  # type: ignore[index]
    assert needed[1] < needed[0] / 2
    assert flops[1] > flops[0] * 1.1
