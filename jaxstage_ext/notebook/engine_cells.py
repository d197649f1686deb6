"""Lines of cells that ran in engines, as the notebook numbers them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

_MAGICS = ("%%px",)


def engine_cell_labels(shell: Any) -> Callable[[str, int], str]:
    """What names a line of an engine's code: "In [3]:2" for one of a cell of this notebook.

    An engine names a cell's file by a digest of its text, which is that of a `%%px` cell here below its first line.
    """

    def label(file: str, line: int) -> str:
        name = os.path.basename(file)
        found = _cells(shell).get(name) if "ipykernel_" in file else None
        return f"In [{found}]:{line + 1}" if found is not None else f"{name}:{line}"

    return label


def _cells(shell: Any) -> dict[str, int]:
    """The execution counts of `%%px` cells, by the name that an engine gives their file."""
    file_name = _file_name()
    found: dict[str, int] = {}
    for number, cell in enumerate(getattr(shell.history_manager, "input_hist_raw", ())):
        first, _, body = cell.partition("\n")
        if file_name is not None and first.lstrip().startswith(_MAGICS):
            for text in {body, f"{body}\n", body.rstrip("\n") + "\n"}:
                found[os.path.basename(file_name(text))] = number
    return found


def _file_name() -> Callable[[str], str] | None:
    """Ipykernel's own name for a cell's file."""
    try:
        from ipykernel.compiler import get_file_name
    except ImportError:
        return None
    return get_file_name if "IPYKERNEL_CELL_NAME" not in os.environ and sys.platform != "win32" else None
