"""A document: one stage's text and, for each of its lines, where it came from.

Rows are numpy columns with one entry a text line, because documents reach
500,000 lines. Rows count from 0 inside columns; lines count from 1 in the
public methods.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.frames import Frames, Ints, SourceSpan

Flags = npt.NDArray[np.uint8]

OP = 1
"""The line is an operation: it counts in `Document.coverage`."""
INFERRED = 2
"""The compiler dropped the line's source; the one given comes from its neighbours."""
GRADIENT = 4
"""The line belongs to the derivative of its source line, not to the line itself."""
LEFT_OUT = 8
"""The row of a source document stands for lines that are not shown."""


@dataclass(frozen=True)
class Coverage:
    """How many of a document's operations are linked to a source line.

    Attributes:
      direct: to a line of the user's own code.
      inferred: to the line of a neighbour, because JAX or XLA dropped their own.
      total: all operations.
      library: to a line of a library, because no line of the user's own code made them.
    """

    direct: int
    inferred: int
    total: int
    library: int = 0

    @property
    def linked(self) -> int:
        """Operations whose source line is known, whoever wrote it, or was inferred."""
        return self.direct + self.library + self.inferred

    @property
    def share(self) -> float | None:
        """Linked share, 0 to 1; None when there is nothing to link."""
        return self.linked / self.total if self.total else None


def _column(n: int, value: int) -> Ints:
    return np.full(n, value, np.int32)


@dataclass(frozen=True, eq=False)
class Document:
    """One stage's text and, for each line, where it came from.

    `frame` indexes the Inspection's `Frames` (-1 unknown); `scope` indexes
    `scopes`, the name stacks (-1 none); `fold_end` is the last row of the
    block that the row opens, or -1; `origin` is the row an inferred link was
    taken from, or -1. In a document of kind "python", `file` indexes
    `Frames.files` and `number` is the line in that file (-1 on titles).
    """

    kind: str
    text: str
    frames: Frames
    frame: Ints
    flags: Flags
    fold_end: Ints
    scope: Ints
    scopes: tuple[str, ...] = ()
    origin: Ints | None = None
    file: Ints | None = None
    number: Ints | None = None

    COLUMNS: ClassVar = ("frame", "flags", "fold_end", "scope", "origin", "file", "number")

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines, without line ends."""
        return self.text.split("\n")

    @cached_property
    def user_frame(self) -> Ints:
        """For each row the frame whose line counts, as `Frames.user` has it; -1 where its source is unknown."""
        known = self.frame >= 0
        frame = np.where(known, self.frame, 0)
        if not len(self.frames):
            return _column(len(self), -1)
        user = self.frames.user[frame]
        return np.where(known, np.where(user >= 0, user, frame), -1).astype(np.int32)

    def source_of(self, line: int) -> SourceSpan | None:
        """The source of a line (from 1), the user's own where there is one; None when it is not known.

        Raises IndexError when the document has no such line.
        """
        if not 1 <= line <= len(self):
            raise IndexError(f"line {line} of a {self.kind} document that has {len(self)} lines")
        row = line - 1
        if self.file is not None and self.number is not None:
            return self._own_line(row)
        frame = int(self.user_frame[row])
        if frame < 0:
            return None
        flags = int(self.flags[row])
        return self.frames.span(frame, inferred=bool(flags & INFERRED), gradient=bool(flags & GRADIENT))

    def stack_of(self, line: int) -> list[SourceSpan]:
        """The call stack that made a line (from 1), innermost first, frames of libraries included.

        Empty when it is not known. Raises IndexError when the document has no such line.
        """
        if self.source_of(line) is None or self.number is not None:
            return []
        return [self.frames.span(frame) for frame in self.frames.stack(int(self.frame[line - 1]))]

    def scope_name(self, row: int) -> str:
        """The name stack of a row (from 0); empty where it has none."""
        number = int(self.scope[row])
        return self.scopes[number] if number >= 0 else ""

    def _own_line(self, row: int) -> SourceSpan | None:
        assert self.file is not None and self.number is not None
        if self.number[row] < 0:
            return None
        source, number = self.frames.files[self.file[row]], int(self.number[row])
        return SourceSpan(source.name, source.cell, "", number, 1, number, 0, public=source.public)

    def lines_from(self, file: str, line: int) -> list[int]:
        """Lines (from 1) that came from a source line.

        `file` is a path or the label of a cell or file ("In [5]"). Where the line made
        nothing itself, the lines that its calls made are given.
        """
        if self.file is not None and self.number is not None:
            wanted = [i for i, f in enumerate(self.frames.files) if f.is_called(file)]
            return (np.flatnonzero(np.isin(self.file, wanted) & (self.number == line)) + 1).tolist()
        if not len(self.frames):
            return []
        frames = self.frames.at(file, line)
        return self._rows_of(frames) or self._rows_of(self._with_callees(frames))

    def _rows_of(self, frames: npt.NDArray[np.bool_]) -> list[int]:
        own = self.user_frame
        return (np.flatnonzero((own >= 0) & frames[np.maximum(own, 0)]) + 1).tolist()

    def _with_callees(self, frames: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        reached = frames.tolist()
        for frame, parent in enumerate(self.frames.parent.tolist()):  # a caller stands before what it calls
            reached[frame] = reached[frame] or (parent >= 0 and reached[parent])
        return np.array(reached, bool)

    @cached_property
    def coverage(self) -> Coverage:
        """Operations linked to source: directly, by inference, in all, and to lines of libraries."""
        ops = (self.flags & OP) > 0
        linked = ops & (self.frame >= 0)
        inferred = linked & ((self.flags & INFERRED) > 0)
        library = linked & ~inferred
        if len(self.frames):
            library &= self.frames.in_library[np.maximum(self.frame, 0)]
        else:
            library[:] = False
        direct = int(linked.sum() - inferred.sum() - library.sum())
        return Coverage(direct, int(inferred.sum()), int(ops.sum()), int(library.sum()))


def document(kind: str, lines: Iterable[str], frames: Frames) -> Document:
    """A document of lines about which nothing is known yet."""
    text = "\n".join(lines)
    n = text.count("\n") + 1
    return Document(kind, text, frames, _column(n, -1), np.zeros(n, np.uint8), _column(n, -1), _column(n, -1))
