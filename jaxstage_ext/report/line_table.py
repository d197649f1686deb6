"""Rows of a document's text, found without making a Python object per line."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.document import Document

LONGEST_LINE = 4000
HEAD, TAIL = 2000, 500
_CHUNK = 1 << 22

Positions = npt.NDArray[np.int64]


def elide(line: str) -> str:
    """The line as views show it: a line over 4,000 characters loses its middle."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:HEAD]}… [{len(line) - HEAD - TAIL:,} characters elided] …{line[-TAIL:]}"


def _newlines(text: str) -> Positions:
    """Positions of the line ends in `text`, in characters."""
    parts = [np.zeros(0, np.int64)]
    for start in range(0, len(text), _CHUNK):
        piece = text[start : start + _CHUNK]
        codes = _codes(piece)
        parts.append(np.flatnonzero(codes == 10) + start)
    return np.concatenate(parts)


def _codes(piece: str) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint32]:
    if piece.isascii():
        return np.frombuffer(piece.encode("ascii"), np.uint8)
    return np.frombuffer(piece.encode("utf-32-le", "surrogatepass"), np.uint32)


@dataclass(frozen=True)
class Rows:
    """The line table of one text. Rows count from 0; positions are in characters."""

    text: str
    starts: Positions
    long: Positions

    @classmethod
    def of(cls, text: str) -> Rows:
        starts = np.concatenate([[0], _newlines(text) + 1, [len(text) + 1]])
        return cls(text, starts, np.flatnonzero(np.diff(starts) - 1 > LONGEST_LINE))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def line(self, row: int) -> str:
        return self.text[self.starts[row] : self.starts[row + 1] - 1]

    def lines(self, start: int, end: int) -> list[str]:
        """The rows start to end as shown."""
        return self.view(start, end).split("\n") if end > start else []

    def view(self, start: int, end: int) -> str:
        """The text of the rows start to end, long lines elided."""
        if end <= start:
            return ""
        text = self.text[self.starts[start] : self.starts[end] - 1]
        if not self._has_long(start, end):
            return text
        return "\n".join(map(elide, text.split("\n")))

    def _has_long(self, start: int, end: int) -> bool:
        first, last = np.searchsorted(self.long, (start, end))
        return bool(last > first)

    def chunks(self) -> list[tuple[int, int]]:
        """Ranges of rows that hold some 4 million characters each."""
        marks = np.arange(0, max(len(self.text), 1), _CHUNK)
        cuts = np.unique(np.append(np.searchsorted(self.starts, marks), len(self)))
        return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))

    def starts_in(self, start: int, end: int, view: str) -> Positions:
        """Where the rows start to end begin in their `view`."""
        if not self._has_long(start, end):
            starts: Positions = self.starts[start:end] - self.starts[start]
            return starts
        return np.concatenate([[0], _newlines(view) + 1])


_tables: WeakKeyDictionary[Document, tuple[Positions, Positions]] = WeakKeyDictionary()


def rows_of(doc: Document) -> Rows:
    """The line table of a document; made once, and dropped with the document."""
    kept = _tables.get(doc)
    if kept:
        return Rows(doc.text, *kept)
    rows = Rows.of(doc.text)
    _tables[doc] = (rows.starts, rows.long)
    return rows
