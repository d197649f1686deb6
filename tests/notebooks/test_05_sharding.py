"""The fifth notebook: shardings and collectives, on TPUs and on CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from absent import needs
from executed_notebooks import NO_COMPILERS, figures, row, run, shown

if TYPE_CHECKING:
    import nbformat

SHARDING = "05_sharding_and_collectives.ipynb"


@pytest.fixture(scope="module", params=["v5e", "cpu"])
def sharding(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    if request.param == "v5e":
        needs("v5e:4x4")
    return run(SHARDING, *([NO_COMPILERS] if request.param == "cpu" else []))


def test_the_all_gather_goes_where_the_text_says_it_does(sharding: nbformat.NotebookNode) -> None:
    first, second = shown(sharding, "ins.collectives"), shown(sharding, "mended = laid_out")
    assert "all-gather" in first
    assert "all-reduce" not in first
    assert "all-gather" not in second
    assert "all-reduce" in second
    before, after = figures(shown(sharding, "def sent"), "before")
    assert after < before


def test_shardings_are_told_with_who_chose_them(sharding: nbformat.NotebookNode) -> None:
    table = shown(sharding, "ins.shardings")
    assert "you" in row(table, "down")
    assert "compiler" in row(table, "result")
    assert "dot_general.0" in shown(sharding, "ins.shardings.all")


def test_sixteen_tpus_or_what_they_lack(sharding: nbformat.NotebookNode) -> None:
    text = shown(sharding, 'print(f"down: {spec}")')
    if "needs libtpu, the TPU compiler: pip" not in text:
        assert "all-gather" in text.split("down: ")[1]
        assert "all-gather" not in text.split("down: ")[2]
        assert " µs " in text


def test_eight_h100s_before_anything_runs(sharding: nbformat.NotebookNode) -> None:
    told = shown(sharding, "by_batch.predicted")
    if "needs JAX's CUDA plugin: pip" not in told:
        assert "Predicted for h100:8, nothing ran" in told
        assert "all-reduce" in told and "independent" in told


def test_warnings_dtypes_and_live_arrays(sharding: nbformat.NotebookNode) -> None:
    assert "Involuntary full rematerialisation at In [" in shown(sharding, "def mixed")
    assert "promotion" in shown(sharding, "def scaled")
    assert "[0:512, 0:256]" in shown(sharding, "make_mesh((2, 4)")
    assert "JAX refuses it" in shown(sharding, "(2047, 512)")
