"""The eighth notebook: what JAX and XLA made, opened without the function, and what XLA was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from executed_notebooks import printed, row, run, shown

if TYPE_CHECKING:
    import nbformat


@pytest.fixture(scope="module")
def given() -> nbformat.NotebookNode:
    return run("08_what_was_xla_given.ipynb")


def test_earlier_stages_are_not_given(given: nbformat.NotebookNode) -> None:
    assert "trace not given ▸ lower given ▸ compile" in shown(given, "%compile -o ins lowered")
    assert "trace not given ▸ lower not given ▸ compile given" in shown(given, "%compile compiled")


def test_a_compiled_in_a_transformation_is_explained(given: nbformat.NotebookNode) -> None:
    assert "A Compiled is machine code for one signature" in shown(given, "%trace jax.jit(lambda")


def test_options_say_who_set_them(given: nbformat.NotebookNode) -> None:
    assert "jax.jit" in row(shown(given, "ins.options"), "xla_cpu_enable_fast_math")
    slow = row(shown(given, "slow = "), "xla_backend_optimization_level")
    assert "jax_disable_most_optimizations" in slow


def test_two_copies_change_the_layout_and_one_callback_is_counted(given: nbformat.NotebookNode) -> None:
    layouts = shown(given, "def gram")
    assert row(layouts, "result[1]").split()[2:4] == ["f32[512,256]", "{1,0}"]
    copies = [line for line in layouts.splitlines() if line.startswith("copy")]
    assert len(copies) == 2
    assert all("column-major" in line and "row-major" in line for line in copies)
    assert "1 callback" in shown(given, "inspect(train, params, batch).effects")


def test_the_numpy_leaf_is_copied_at_each_call(given: nbformat.NotebookNode) -> None:
    table = shown(given, "%dispatch")
    assert "copied from the host" in row(table, "params['down']")
    assert "as it is" in row(table, "params['up']")
    assert "No fast path" in table


def test_two_sets_of_options_stand_side_by_side(given: nbformat.NotebookNode) -> None:
    table = shown(given, "sets.compare()")
    assert sum("4.33 MFLOP" in line for line in table.splitlines()) == 2


def test_the_dump_of_another_process_opens(given: nbformat.NotebookNode) -> None:
    assert "jit__lambda" in shown(given, 'load(folder / "dump")')
    assert "FLOPs 66.6 kFLOP" in shown(given, 'dump["jit__lambda"]')  # 2 * 64 * 32 * 16, and 1,023 to add up
    assert "fusion-wrapper" in shown(given, "module.passes")


def test_an_exported_opens_at_the_size_that_was_given(given: nbformat.NotebookNode) -> None:
    assert "f32[128,64]" in shown(given, "symbolic_shape")


def test_the_reproducer_gives_the_same_hlo(given: nbformat.NotebookNode) -> None:
    cell = next(cell for cell in given.cells if '"repro.py"' in cell.source)
    assert printed(cell) == "the same HLO as in hlo.txt\n"
