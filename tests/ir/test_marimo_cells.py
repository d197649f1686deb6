"""What cells of marimo are called. The notebook was written, and its cells' texts were read, by marimo 0.25.2."""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxstage_ext.compilation.records.compile_record import Place
from jaxstage_ext.compilation.records.record_names import line_text
from jaxstage_ext.ir.sources import marimo_cells, source
from jaxstage_ext.report.frames import SourceFile

GOLDEN = Path(__file__).parents[1] / "golden" / "marimo"
CELLS: list[tuple[str, str]] = [(name, code) for name, code in json.loads((GOLDEN / "cells.json").read_text())]
TWINS = [number for number, (_, code) in enumerate(CELLS) if code == "1 + 1"]


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (path := tmp_path / "app.py").write_text((GOLDEN / "cells.py.txt").read_text())
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(path), raising=False)
    monkeypatch.setattr(marimo_cells, "_known", {})
    with monkeypatch.context() as cached:
        cached.setattr(linecache, "cache", dict(linecache.cache))
        yield path


def registered(number: int, code: str) -> str:
    """The file name of a cell, whose text is kept as marimo keeps it."""
    file = f"/tmp/marimo_4/__marimo__cell_id{number}_.py"
    linecache.cache[file] = (len(code), None, [line + "\n" for line in code.splitlines()], file)
    return file


def test_the_cells_are_all_there_in_order(notebook: Path) -> None:
    cells = marimo_cells.written_cells(notebook.read_text())
    assert [cell.name for cell in cells] == [name.removeprefix("*") for name, _ in CELLS]


@pytest.mark.parametrize(
    "number", [n for n, (_, code) in enumerate(CELLS) if code and code != "x = (" and n not in TWINS]
)
def test_a_cell_has_its_name_or_the_number_that_marimo_shows(notebook: Path, number: int) -> None:
    name, code = CELLS[number]
    expected = f"cell-{number}" if name == "_" else f"cell {name.removeprefix('*')}"
    assert marimo_cells.label_of(registered(number, code)) == expected


def test_equal_cells_are_not_told_apart(notebook: Path) -> None:
    assert [marimo_cells.label_of(registered(n, CELLS[n][1])) for n in TWINS] == [f"cell id{n}" for n in TWINS]


def test_a_cell_that_was_edited_keeps_its_name_until_it_is_saved(notebook: Path) -> None:
    number = next(n for n, (name, _) in enumerate(CELLS) if name == "step")
    assert marimo_cells.label_of(registered(number, CELLS[number][1])) == "cell step"
    assert marimo_cells.label_of(registered(number, "y = 5")) == "cell step"
    assert marimo_cells.label_of(registered(99, "y = 5")) == "cell id99"


def test_a_part_of_a_cell_is_not_taken_for_it(notebook: Path) -> None:
    assert marimo_cells.label_of(registered(50, "second = first")) == "cell id50"


@pytest.mark.parametrize("text", ["", "def f(:", "\0", "(" * 100_000, "app = 1\n@app.cell\nclass A: pass"])
def test_a_file_that_is_no_notebook_has_no_cells_and_no_error(notebook: Path, text: str) -> None:
    notebook.write_text(text)
    assert marimo_cells.label_of(registered(3, CELLS[3][1])) == "cell id3"


def test_other_files_are_no_cells() -> None:
    assert marimo_cells.label_of("/home/me/train.py") is None
    assert marimo_cells.label_of("/home/me/__marimo__cell_notes.py") is None


def test_messages_frames_and_the_log_of_compiles_have_the_same_name(notebook: Path) -> None:
    number = next(n for n, (name, _) in enumerate(CELLS) if name == "summary")
    file = registered(number, CELLS[number][1])
    assert source.with_cell_labels(f'at "{file}:3", twice') == 'at "cell summary:3", twice'
    assert line_text(Place(file, 3, "f", None)) == "cell summary:3"
    table = source.FrameTable()
    assert table.source(file) == SourceFile(file, "cell summary", True, table.source(file).public)
    assert table.source(file).label == "cell summary"


def test_marimo_itself_is_not_the_users_program() -> None:
    assert source.is_outside("/env/lib/python3.13/site-packages/marimo/_runtime/executor.py")
    assert source.is_outside("/env/lib/python3.13/site-packages/marimo/_ast/app.py")
    assert not source.is_outside("/home/me/marimo/app.py")
