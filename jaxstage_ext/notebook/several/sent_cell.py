"""A cell on its way to the engines, and in an engine in the place of the cell that runs there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.ir.sources.run_cells import CellAtWork


@dataclass(frozen=True)
class SentCell:
    """A magic's line and its cell, as plain data.

    Attributes:
      kind: the stage.   line: the magic's line, its options included.   cell: the text below it.
      python: what is compiled, whose lines are those of the cell.   typed: the cell as the user sees it.
      magic_line: the line that the magic stands on.
      number: the execution count of the cell.   id: by which the page knows it; None where it is unknown.
      labels: what `%%px` cells are called, by the names that engines give their files.
      is_cached: whether what was compiled before may be read.
    """

    kind: str
    line: str
    cell: str
    python: str
    typed: str
    magic_line: int
    number: int
    id: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    is_cached: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> SentCell:
        """That of a `to_dict`."""
        return SentCell(**data)


class CellInEngine:
    """What a request asks of the running cell, of a cell that runs in the notebook's kernel by name only."""

    def __init__(self, ip: Any, sent: SentCell) -> None:
        self._ip, self._sent = ip, sent

    @property
    def number(self) -> int:
        """The execution count that the cell has in the notebook."""
        return self._sent.number

    @property
    def label(self) -> str:
        """The cell's prompt in the notebook."""
        return f"In [{self.number}]"

    def begin(self) -> None:
        """From now on programs are made by this cell, and its code is that of the notebook's text."""
        run_cells.name_cells(self._sent.labels)
        run_cells.begin(CellAtWork(self._sent.id, self.label, self.number))
        name_of = getattr(self._ip.compile, "get_code_name", None)
        if name_of is None:
            return
        typed = self._sent.typed
        run_cells.ran(file := name_of(typed, typed, self.number))
        run_cells.name_cells({os.path.basename(file): self.label})
        if self._sent.id is not None:
            run_cells.record(file, self._sent.id, typed)

    def end(self) -> None:
        """The cell has ended here."""
        run_cells.end()

    def body(self, cell: str) -> tuple[str, str]:
        """(Python text, text as typed) of a cell below a line that a button has written."""
        return self._sent.python, self._sent.typed

    def source(self, kind: str, line: str, cell: str) -> tuple[str, str, int]:
        """(Python text, text as typed, line of the magic)."""
        return self._sent.python, self._sent.typed, self._sent.magic_line
