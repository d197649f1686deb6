"""The third notebook: passes and machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from executed_notebooks import NO_COMPILERS, printed, run, shown

from jaxstage_ext.core.targets import packages

if TYPE_CHECKING:
    import nbformat


@pytest.fixture(scope="module")
def compiler() -> nbformat.NotebookNode:
    return run("03_what_the_compiler_did.ipynb")


def test_passes_are_listed_and_followed(compiler: nbformat.NotebookNode) -> None:
    assert "changed the module" in shown(compiler, "ins.passes")
    assert "fusion: " in shown(compiler, "ins.passes.diff")
    assert " exponential(" in shown(compiler, "ins.passes.follow")


def test_machine_code_of_the_cpu_and_of_an_h100(compiler: nbformat.NotebookNode) -> None:
    assert "loop fusion" in shown(compiler, "ins.kernels")
    assert "fmul" in shown(compiler, '"fmul"')
    gpu = shown(compiler, "if gpu:")
    lacks = packages.find("cuda").lacks
    assert lacks in shown(compiler, "gpu = None") if lacks else "ex2.approx" in gpu


@pytest.mark.timeout(900)
def test_without_compilers_it_says_what_is_missing_and_goes_on() -> None:
    notebook = run("03_what_the_compiler_did.ipynb", NO_COMPILERS)
    text = "".join(printed(cell) for cell in notebook.cells if cell.cell_type == "code")
    assert "needs JAX's CUDA plugin: pip" in text
