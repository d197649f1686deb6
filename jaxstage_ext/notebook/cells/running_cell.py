"""The running cell: its number, and its text as the user sees it."""

from __future__ import annotations

import sys
from typing import Any

from IPython import version_info

from jaxstage_ext.ir.sources import run_cells

COUNTS_FIRST = version_info[:2] >= (9, 8)
"""Whether IPython raises the execution count before a cell runs; older versions do so when it ends."""

_LONGEST_ID = 200


class RunningCell:
    """Follows IPython's events. A cell that runs inside another (by `%%capture`) belongs to the outer one."""

    def __init__(self, ip: Any) -> None:
        self._ip = ip
        self._depth = 0
        self._number: int | None = None
        self._raw = ""
        self._id: str | None = None

    def before(self, info: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._number = self._ip.execution_count - (1 if info.store_history and COUNTS_FIRST else 0)
            self._raw = info.raw_cell
            self._begin(getattr(info, "cell_id", None))

    def after(self, result: Any) -> None:
        self._depth = max(0, self._depth - 1)
        if not self._depth:
            self._number, self._raw, self._id = None, "", None
            run_cells.end()
            if (shown := sys.modules.get("jaxstage_ext.panel.showing.display")) is not None:
                shown.end_cell()

    def _begin(self, cell: str | None) -> None:
        self._id = cell if isinstance(cell, str) and len(cell) <= _LONGEST_ID else None
        run_cells.begin(run_cells.CellAtWork(self._id, self.label, self.number))
        self.record(self._raw)

    def record(self, text: str) -> None:
        """The running cell's code is compiled as that of this text, which the user sees in the cell's editor."""
        name_of = getattr(self._ip.compile, "get_code_name", None)
        if self._id is not None and name_of is not None:
            run_cells.record(name_of(text, text, self.number), self._id, text)

    @property
    def number(self) -> int:
        """The execution count of the running cell, as in its prompt."""
        return max(self._ip.execution_count - 1, 1) if self._number is None else self._number

    @property
    def label(self) -> str:
        return f"In [{self.number}]"

    def join(self) -> None:
        """Take note of the cell that loads the extension, which runs already."""
        kernel = getattr(self._ip, "kernel", None)
        parent = (kernel.get_parent("shell") if kernel is not None else None) or {}
        cell, text = (parent.get("metadata") or {}).get("cellId"), (parent.get("content") or {}).get("code")
        if isinstance(text, str):
            self._raw = text
            self._begin(cell)

    def body(self, cell: str) -> tuple[str, str]:
        """(Python text, text as typed) of a cell below a magic's line that is not part of it.

        Blank lines above its first one are comments in the Python text, so that lines keep their numbers.
        """
        _, _, below = self._raw.partition("\n")
        typed = below if below.rstrip() == cell.rstrip() else cell
        self.record(typed)
        start = len(cell) - len(cell.lstrip())
        blank = cell[:start].count("\n")
        return "#\n" * blank + cell.removeprefix("".join(cell.splitlines(keepends=True)[:blank])), typed

    def source(self, kind: str, line: str, cell: str) -> tuple[str, str, int]:
        """(Python text, text as typed, line of the magic) of a magic's cell.

        In the Python text the magic's line is a comment, so that lines keep their numbers.
        """
        typed = f"%%{kind} {line}".rstrip() + f"\n{cell}"
        above = 0
        if self._raw.rstrip().endswith(typed.rstrip()):
            above = self._raw.rstrip()[: -len(typed.rstrip())].count("\n")
            typed = self._raw
        comment = " ".join(f"# %%{kind} {line}".rstrip().splitlines())
        return "#\n" * above + f"{comment}\n{cell}", typed, above + 1
