"""The seventh notebook: twelve classic mistakes, each with the cause that a JAX maintainer would give."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from compile_records import compile_record
from executed_notebooks import printed, run, shown

from jaxstage_ext.compilation.causes import cause_wording
from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict

if TYPE_CHECKING:
    import nbformat

CAUSES = {
    "def loss": [Difference(Cause.SHAPE, "x", "f32[32,16]", "f32[16,16]")],
    "# 1.": [Difference(Cause.WEAK_TYPE, "rate", "weakly typed float32, a Python float", "strongly typed float32")],
    "# 2.": [Difference(Cause.STATIC_VALUE, "length", "8", "9")],
    "# 3.": [Difference(Cause.MADE_ANEW, "<lambda>"), Difference(Cause.CAPTURED, "factor", "1.0", "2.0")],
    "# 4.": [Difference(Cause.CELL_RUN_AGAIN, "<lambda>")],
    "# 5.": [Difference(Cause.CONFIG, "jax_enable_x64", "False", "True")],
    "# 6.": [Difference(Cause.STATIC_IDENTITY, "config", "Config", "Config")],
    "# 7.": [Difference(Cause.PYTREE, "pair", "tuple", "list")],
    "# 8.": [Difference(Cause.METHOD_MADE_ANEW, "Model.apply"), Difference(Cause.CAPTURED, "self", "Model", "Model")],
    "# 9.": [Difference(Cause.PLACEMENT, "x", "uncommitted", "cpu:0")],
    "# 10.": [Difference(Cause.CACHE_CLEARED, "jax.clear_caches")],
    "# 11.": [Difference(Cause.JIT_OPTIONS, "donate_argnums", "()", "(0,)")],
    "# 12.": [Difference(Cause.ARGUMENT_FORM, "scale", "positional", "keyword")],
}


@pytest.fixture(scope="module")
def compiled_again() -> nbformat.NotebookNode:
    return run("07_why_did_it_compile_again.ipynb")


def _words(text: str) -> str:
    """The words of a table's cells, which go on in the same column of the next lines."""
    return " ".join(text.split())


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("cell", "differences"), CAUSES.items(), ids=CAUSES)
def test_each_mistake_has_its_cause(
    compiled_again: nbformat.NotebookNode, cell: str, differences: list[Difference]
) -> None:
    """Below the row's head, which has the cell, the words stand in one column."""
    number = [
        one.execution_count for one in compiled_again.cells if one.cell_type == "code" and one.source.startswith(cell)
    ][-1]
    text = shown(compiled_again, "history.recompiles()")
    rows = re.split(r"\n(?= ?#\d)", text)
    mine = [row for row in rows if re.match(rf" ?#\d+ +In \[{number}\]:", row)]
    cause = cause_wording.why(compile_record(), Verdict(differences[0].cause, tuple(differences)))
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
    assert "factor was 2.0 when times was traced" in _words(str(last.outputs))
