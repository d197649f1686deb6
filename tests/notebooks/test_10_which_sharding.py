"""The tenth notebook: every layout of a step for eight chips, why the best is that, and it as code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from executed_notebooks import run, shown

if TYPE_CHECKING:
    import nbformat

pytestmark = pytest.mark.seldom("a search of all layouts; the tab and the search have cheap tests")


@pytest.fixture(scope="module")
def which() -> nbformat.NotebookNode:
    return run("10_which_sharding.ipynb")


def test_it_says_which_to_take_against_the_own_specs(which: nbformat.NotebookNode) -> None:
    text = shown(which, "%%shard").replace("│", " ")
    assert re.search(r"Take .* as fast as your own specs|Keep your own specs", " ".join(text.split()))


def test_it_says_why(which: nbformat.NotebookNode) -> None:
    assert "over" in shown(which, "layouts.sentences()") and "saves" in shown(which, "layouts.sentences()")


def test_the_code_compiles_for_eight_cpus(which: nbformat.NotebookNode) -> None:
    assert "P('" in shown(which, 'code("in_specs")')
    assert "compile" in shown(which, "run_line_magic") and "all-reduce" in shown(which, "run_line_magic")
