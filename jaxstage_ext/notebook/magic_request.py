"""What the requests of all magics share: the line, the cell and the place that it stands at, and what it binds."""

from __future__ import annotations

import ast
import linecache
from types import FrameType
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook import staging
from jaxstage_ext.notebook.cells.running_cell import RunningCell
from jaxstage_ext.notebook.lines import command_line

OF_BUTTON = "<magic>"
"""The file name of a line that a button has written, which is in no text."""


class MagicRequest:
    """One use of a magic. Raises UsageError for a line that cannot be parsed."""

    def __init__(self, ip: Any, running_cell: RunningCell, kind: str, asked: command_line.Command) -> None:
        self.ip, self.running_cell, self.kind, self.asked = ip, running_cell, kind, asked
        self.options = asked.options
        self.from_toolbar: bool = getattr(self.options, "from_toolbar", False)
        self.on_line: list[ast.expr] = []

    async def run_cell(self, line: str, cell: str) -> Any:
        """Run the cell, and do with it what the magic is for. Returns its value."""
        raise NotImplementedError

    async def run_line(self, line: str, local_ns: dict[str, Any] | None, frame: FrameType | None) -> Any:
        """Do what a line magic is for. Returns what the line is worth where it is assigned, otherwise its value."""
        raise NotImplementedError

    def placed(self, line: str, cell: str) -> tuple[str, str, list[ast.expr]]:
        """(Python text, text as typed, expressions on the magic's line, with the place that they have in the text).

        Raises UsageError for a cell that begins with another cell magic.
        """
        self._check_no_inner_magic(cell)
        staging.check_jax()
        if self.from_toolbar:
            return *self.running_cell.body(cell), self.on_line
        source, typed, number = self.running_cell.source(self.kind, line, cell)
        column = len(f"# %%{self.kind} ")
        return source, typed, [command_line.moved(node, number - 1, column) for node in self.on_line]

    def _check_no_inner_magic(self, cell: str) -> None:
        if not cell.lstrip().startswith("%%"):
            return
        inner = cell.split()[0]
        if self.from_toolbar:
            raise UsageError(
                f"the cell begins with {inner}; run it as it is, or remove that line to {self.kind} the cell"
            )
        raise UsageError(f"put {inner} above %%{self.kind}: a cell magic must be the first line of its cell")

    def placed_on(self, frame: FrameType | None, line: str) -> tuple[str, str, list[ast.expr]]:
        """(file, text of its line, expressions on it, with their places) of the code that holds a line magic."""
        file, number = (OF_BUTTON, 1) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        text = "" if frame is None else linecache.getline(file, number)
        column = max(text.find(line.strip()), 0)
        return file, text, [command_line.moved(node, number - 1, column) for node in self.on_line]

    @staticmethod
    def is_assigned(text: str) -> bool:
        """Whether the line of code that holds a line magic assigns its value."""
        return not text.lstrip().startswith("get_ipython().")

    def namespace(self, local_ns: dict[str, Any] | None) -> dict[str, Any]:
        """The names that the code of a line magic sees."""
        user: dict[str, Any] = self.ip.user_ns
        return user if local_ns is None or local_ns is user else {**user, **local_ns}

    def bind(self, value: Any) -> None:
        """Bind what `--output` names."""
        if self.options.output and value is not None:
            self.ip.push({self.options.output: value}, interactive=True)
