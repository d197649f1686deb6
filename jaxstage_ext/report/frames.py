"""Source lines and call stacks: where the lines of documents came from.

`Frames` keeps one entry a frame in numpy columns and is shared by all documents of an Inspection.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SourceSpan:
    """Where a line came from.

    Lines and columns count from 1; `end_column` is exclusive, 0 when unknown.
    """

    file: str
    cell: str | None
    function: str
    line: int
    column: int
    end_line: int
    end_column: int
    inferred: bool = False
    gradient: bool = False

    @property
    def end(self) -> tuple[int, int]:
        """(line, column) after the expression's last character; column 0 when unknown."""
        return self.end_line, self.end_column

    def __str__(self) -> str:
        return f"{self.cell or self.file}:{self.line} ({self.function})"


@dataclass(frozen=True)
class SourceFile:
    """A file or cell that frames point into. `user` is False for installed libraries."""

    name: str
    cell: str | None = None
    user: bool = True

    @property
    def label(self) -> str:
        return self.cell or self.name


@dataclass(frozen=True, eq=False)
class Frames:
    """The call stacks of one Inspection, shared by all its documents.

    Columns have one entry a frame. `file` and `function` index `files` and
    `functions`; `parent` is the calling frame or -1; `user` is the nearest
    frame of the user's own code, the frame itself or an ancestor, or -1.
    """

    files: tuple[SourceFile, ...] = ()
    functions: tuple[str, ...] = ()
    file: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    function: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    line: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    column: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    end_line: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    end_column: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    parent: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    user: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    COLUMNS: ClassVar = ("file", "function", "line", "column", "end_line", "end_column", "parent", "user")

    def __len__(self) -> int:
        return len(self.file)

    def span(self, frame: int, inferred: bool = False, gradient: bool = False) -> SourceSpan:
        """The frame as a `SourceSpan`, marked as an inferred link or as part of a derivative."""
        source = self.files[self.file[frame]]
        return SourceSpan(
            file=source.name,
            cell=source.cell,
            function=self.functions[self.function[frame]],
            line=int(self.line[frame]),
            column=int(self.column[frame]),
            end_line=int(self.end_line[frame]),
            end_column=int(self.end_column[frame]),
            inferred=inferred,
            gradient=gradient,
        )

    def stack(self, frame: int) -> list[int]:
        """The frame and its callers, innermost first."""
        chain = []
        while frame >= 0:
            chain.append(frame)
            frame = int(self.parent[frame])
        return chain

    def at(self, file: str, line: int) -> npt.NDArray[np.bool_]:
        """Which frames' expressions include this line (a path or a cell's label)."""
        wanted = [i for i, f in enumerate(self.files) if file in (f.name, f.cell)]
        return np.isin(self.file, wanted) & (self.line <= line) & (line <= np.maximum(self.end_line, self.line))
