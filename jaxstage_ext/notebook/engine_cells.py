"""Cells of the notebook that run in engines: what they are called there, and how their lines are named here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from jaxstage_ext.processes.engines.engine_job import names_by_file
from jaxstage_ext.processes.engines.whereabouts import LineNames, NamedLine

NAME_CELLS = "jaxstage_ext.ir.sources.run_cells:name_cells"
_STAGED, _STAGES = "--processes", ("%%trace", "%%lower", "%%compile")
"""A cell that `%%compile --processes` sends is whole in an engine, its first line as a comment."""
_BELOW, _LINE = "In [{}] below %%px", "In [{}] at %px"
"""Lines are counted from there: an engine does not have those above."""


class EngineCell(NamedTuple):
    """Code that a cell has run in engines: what it is called, and its lines as engines have them."""

    label: str
    lines: list[str]


def engine_line_names(shell: Any) -> LineNames:
    """What names a line of an engine's code: "In [3] below %%px:2" for one of a cell of this notebook.

    An engine names a cell's file by a digest of the text that it was sent.
    """

    def named(file: str, line: int) -> NamedLine:
        found = _cells(shell).get(os.path.basename(file)) if "ipykernel_" in file else None
        if found is None:
            return names_by_file(file, line)
        return NamedLine(f"{found.label}:{line}", found.lines[line - 1].strip() if line <= len(found.lines) else "")

    return named


def px_labels(shell: Any) -> dict[str, str]:
    """What the notebook's cells with `%%px` or `%px` are called, by the name that an engine gives their file."""
    return {file: cell.label for file, cell in _cells(shell).items() if cell.label.endswith("px")}


def labels_of(number: int, cell: str) -> dict[str, str]:
    """The same of one cell, by its execution count and text."""
    return {file: one.label for file, one in _files(number, cell) if one.label.endswith("px")}


def _cells(shell: Any) -> dict[str, EngineCell]:
    """What cells of this notebook have run in engines, by the name that an engine gives the file."""
    cells = enumerate(getattr(shell.history_manager, "input_hist_raw", ()))
    return {file: one for number, cell in cells for file, one in _files(number, cell)}


def _files(number: int, cell: str) -> Iterator[tuple[str, EngineCell]]:
    if (file_name := _file_name()) is None or ("px" not in cell and _STAGED not in cell):
        return
    for label, sent in _sent(cell):
        made = EngineCell(label.format(number), sent.split("\n"))
        for text in {sent, sent.rstrip("\n"), sent.rstrip("\n") + "\n"}:
            yield os.path.basename(file_name(text)), made


def _sent(cell: str) -> Iterator[tuple[str, str]]:
    """(what it is called, the text that engines get) of what a cell runs there."""
    first, _, body = cell.lstrip().partition("\n")
    if first.startswith("%%px"):
        yield _BELOW, body
    elif first.startswith(_STAGES) and _STAGED in first:
        yield "In [{}]", cell
    else:
        words = (line.strip().split(None, 1) for line in cell.split("\n") if line.lstrip().startswith("%px "))
        yield from ((_LINE, each[1]) for each in words if len(each) == 2)


def _file_name() -> Callable[[str], str] | None:
    """What names the file of a cell in ipykernel; None where that is not here."""
    try:
        from ipykernel.compiler import get_file_name
    except ImportError:
        return None
    return get_file_name if "IPYKERNEL_CELL_NAME" not in os.environ and sys.platform != "win32" else None
