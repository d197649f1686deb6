"""The seventh notebook: twelve classic mistakes, each with the cause that a JAX maintainer would give."""

from __future__ import annotations

import re

import nbformat
import pytest
from executed_notebooks import printed, run, shown

CAUSES = {
    "def loss": "x is f32[16,16], was f32[32,16]",
    "# 1.": "rate is strongly typed float32, was weakly typed float32, a Python float",
    "# 2.": "static length is 9, was 8",
    "# 3.": "<lambda> is a new function object with the same code; factor is 2.0, was 1.0",
    "# 4.": "the code that defines <lambda> ran again: the same code, but a new function to JAX",
    "# 5.": "jax_enable_x64 is True, was False",
    "# 6.": "static config is another Config object, and Config compares by identity",
    "# 7.": "pair is a list, was a tuple",
    "# 8.": "Model.apply is a new bound method, as each read of it makes; self is another Model object",
    "# 9.": "x is on cpu:0, was uncommitted",
    "# 10.": "JAX's caches were cleared",
    "# 11.": "donate_argnums is (0,), was ()",
    "# 12.": "scale is passed by keyword, was passed by position",
}


@pytest.fixture(scope="module")
def compiled_again() -> nbformat.NotebookNode:
    return run("07_why_did_it_compile_again.ipynb")


def _words(text: str) -> str:
    """The words of a table's cells, which go on in the same column of the next lines."""
    return " ".join(text.split())


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("cell", "cause"), CAUSES.items(), ids=lambda text: text[:12])
def test_each_mistake_has_its_cause(compiled_again: nbformat.NotebookNode, cell: str, cause: str) -> None:
    """Below the row's head, which has the cell, the words stand in one column."""
    number = [
        one.execution_count for one in compiled_again.cells if one.cell_type == "code" and one.source.startswith(cell)
    ][-1]
    text = shown(compiled_again, "history.recompiles()")
    rows = re.split(r"\n(?= ?#\d)", text)
    mine = [row for row in rows if re.match(rf" ?#\d+ +In \[{number}\]:", row)]
    assert any(cause in _words(_column(row)) for row in mine), mine


def _column(row: str) -> str:
    """The last column of a row: why."""
    head, *more = row.splitlines()
    start = re.search(r"(?:ms|µs|s)  (?=\S)", head)
    assert start, head
    wrapped = [line[start.end() :] for line in more if line[: start.end()].isspace()]
    return "\n".join([head[start.end() :], *wrapped])


@pytest.mark.timeout(600)
def test_the_mended_loop_compiles_nothing_and_the_short_batch_is_refused(
    compiled_again: nbformat.NotebookNode,
) -> None:
    cell = next(one for one in compiled_again.cells if "def test_steps_share" in one.source)
    refused = printed(cell)
    assert "1 compile, expected at most 0" in refused
    assert "x is f32[31,16], was f32[32,16]" in refused


@pytest.mark.timeout(600)
def test_the_cache_had_a_hit_and_the_old_global_is_named(compiled_again: nbformat.NotebookNode) -> None:
    assert "1 hit in 2 compiles" in shown(compiled_again, "%compile_cache")
    assert "persistent cache hit" in shown(compiled_again, "%compiles --function mix")
    last = [cell for cell in compiled_again.cells if cell.source == "%compiles"][-1]
    assert "`factor` was 2.0 when `times` was traced" in _words(str(last.outputs))
