"""Lines of cells that ran in engines, as the notebook numbers them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from jaxstage_ext.processes.engines.engine_job import names_by_file
from jaxstage_ext.processes.engines.whereabouts import LineNames, NamedLine

_MAGICS = ("%%px",)
_STAGED, _STAGES = "--processes", ("%%trace", "%%lower", "%%compile")
"""A cell that `%%compile --processes` sends is whole in an engine, its first line as a comment."""


def engine_line_names(shell: Any) -> LineNames:
    """What names a line of an engine's code: "In [3]:2" for one of a cell of this notebook.

    An engine names a cell's file by a digest of its text, which is that of a `%%px` cell here below its first line.
    """

    def named(file: str, line: int) -> NamedLine:
        found = _cells(shell).get(os.path.basename(file)) if "ipykernel_" in file else None
        if found is None:
            return names_by_file(file, line)
        number, lines, above = found
        at = line + above
        return NamedLine(f"In [{number}]:{at}", lines[at - 1].strip() if at <= len(lines) else "")

    return named


def px_cells(shell: Any) -> dict[str, int]:
    """The execution counts of the notebook's `%%px` cells, by the name that an engine gives their file."""
    return {file: number for file, (number, _, above) in _cells(shell).items() if above}


def _cells(shell: Any) -> dict[str, tuple[int, list[str], int]]:
    """Of cells that ran in engines their execution counts, lines, and how many of these an engine does not have.

    By the name that an engine gives the cell's file.
    """
    file_name = _file_name()
    found: dict[str, tuple[int, list[str], int]] = {}
    for number, cell in enumerate(getattr(shell.history_manager, "input_hist_raw", ())):
        first, _, body = cell.partition("\n")
        above = _lines_above(first.lstrip())
        if file_name is None or above is None:
            continue
        sent = body if above else cell
        for text in {sent, sent.rstrip("\n"), sent.rstrip("\n") + "\n"}:
            found[os.path.basename(file_name(text))] = number, cell.split("\n"), above
    return found


def _lines_above(first: str) -> int | None:
    """How many lines of a cell with this first line an engine does not have; None of a cell that runs here."""
    if first.startswith(_MAGICS):
        return 1
    return 0 if first.startswith(_STAGES) and _STAGED in first else None


def _file_name() -> Callable[[str], str] | None:
    """What names the file of a cell in ipykernel; None where that is not here."""
    try:
        from ipykernel.compiler import get_file_name
    except ImportError:
        return None
    return get_file_name if "IPYKERNEL_CELL_NAME" not in os.environ and sys.platform != "win32" else None
