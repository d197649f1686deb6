"""Lines of cells that ran in engines, as the notebook numbers them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from jaxstage_ext.processes.engines.engine_job import names_by_file
from jaxstage_ext.processes.engines.whereabouts import LineNames, NamedLine

_MAGICS = ("%%px",)


def engine_line_names(shell: Any) -> LineNames:
    """What names a line of an engine's code: "In [3]:2" for one of a cell of this notebook.

    An engine names a cell's file by a digest of its text, which is that of a `%%px` cell here below its first line.
    """

    def named(file: str, line: int) -> NamedLine:
        found = _cells(shell).get(os.path.basename(file)) if "ipykernel_" in file else None
        if found is None:
            return names_by_file(file, line)
        number, lines = found
        return NamedLine(f"In [{number}]:{line + 1}", lines[line].strip() if line < len(lines) else "")

    return named


def px_cells(shell: Any) -> dict[str, int]:
    """The execution counts of the notebook's `%%px` cells, by the name that an engine gives their file."""
    return {file: number for file, (number, _) in _cells(shell).items()}


def _cells(shell: Any) -> dict[str, tuple[int, list[str]]]:
    """The execution counts and lines of `%%px` cells, by the name that an engine gives their file."""
    file_name = _file_name()
    found: dict[str, tuple[int, list[str]]] = {}
    for number, cell in enumerate(getattr(shell.history_manager, "input_hist_raw", ())):
        first, _, body = cell.partition("\n")
        if file_name is not None and first.lstrip().startswith(_MAGICS):
            for text in {body, body.rstrip("\n") + "\n"}:
                found[os.path.basename(file_name(text))] = number, cell.split("\n")
    return found


def _file_name() -> Callable[[str], str] | None:
    """What names the file of a cell in ipykernel; None where that is not here."""
    try:
        from ipykernel.compiler import get_file_name
    except ImportError:
        return None
    return get_file_name if "IPYKERNEL_CELL_NAME" not in os.environ and sys.platform != "win32" else None
