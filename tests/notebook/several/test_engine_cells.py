"""What cells of the notebook are called in engines. The oracle is ipykernel's own name of the file of a text."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell
from staged_in_process import job_here

from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.notebook.engine_cells import engine_line_names, labels_of, px_labels

compiler = pytest.importorskip("ipykernel.compiler", reason="the kernel is not installed here")

CELLS = {
    "%%px --targets 0\na = 1\nb = a + 1": ("a = 1\nb = a + 1", 2, "In [4] below %%px:2", "b = a + 1"),
    "x = 1\n%px c = 2": ("c = 2", 1, "In [4] at %px:1", "c = 2"),
    "%%lower --processes\nf(x)": ("%%lower --processes\nf(x)", 2, "In [4]:2", "f(x)"),
}


@pytest.fixture
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        yield shell
    run_cells.forget()


class _History:
    def __init__(self, cell: str) -> None:
        self.history_manager, self.input_hist_raw = self, ["", "y = 1", "", "", cell]


@pytest.mark.parametrize("cell", CELLS)
def test_an_engines_line_has_its_cells_name_here_and_there(cell: str) -> None:
    sent, line, label, code = CELLS[cell]
    file = compiler.get_file_name(sent)
    named = engine_line_names(_History(cell))(file, line)
    assert (named.label, named.code) == (label, code)
    if "px" in cell:
        run_cells.name_cells(labels_of(4, cell))
        assert px_labels(_History(cell)) == labels_of(4, cell)
        assert f"{run_cells.label_of(file, 2)}:{line}" == label
    assert engine_line_names(_History(cell))("/a/train.py", 3).label == "train.py:3"


def test_engines_hear_what_a_cell_is_called_before_it_runs_there(shell: Shell) -> None:
    shell.run("%processes")
    with job_here(2) as job:
        shell.run("x = 1")
        assert job.asked == []
        shell.run("%%px\nx = 2")
    assert job.asked == [(0, "name_cells"), (1, "name_cells")]
    number = shell.ip.execution_count - 1
    file = compiler.get_file_name("x = 2")
    assert run_cells.label_of(os.path.basename(file), 1) == f"In [{number}] below %%px"


def test_cells_that_were_not_named_are_the_engines_own() -> None:
    run_cells.are_of("engine's ")
    try:
        assert run_cells.label_of("5.py", 3) == "engine's In [3]"
    finally:
        run_cells.forget()
