"""The running cell: its number, and its text as the user sees it."""

from __future__ import annotations

from typing import Any

from IPython import version_info

COUNTS_FIRST = version_info[:2] >= (9, 8)
"""Whether IPython raises the execution count before a cell runs; older versions do so when it ends."""


class RunningCell:
    """Follows IPython's events. A cell that runs inside another (by `%%capture`) belongs to the outer one."""

    def __init__(self, ip: Any) -> None:
        self._ip = ip
        self._depth = 0
        self._number: int | None = None
        self._raw = ""

    def before(self, info: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._number = self._ip.execution_count - (1 if info.store_history and COUNTS_FIRST else 0)
            self._raw = info.raw_cell

    def after(self, result: Any) -> None:
        self._depth = max(0, self._depth - 1)
        if not self._depth:
            self._number, self._raw = None, ""

    @property
    def number(self) -> int:
        """The execution count of the running cell, as in its prompt."""
        return max(self._ip.execution_count - 1, 1) if self._number is None else self._number

    @property
    def label(self) -> str:
        return f"In [{self.number}]"

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
