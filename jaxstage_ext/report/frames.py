"""Source lines and call stacks: where the lines of documents came from.

`Frames` keeps one entry a frame in numpy columns and is shared by all documents of an Inspection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.text.public_paths import INSTALLED, public_path

Ints = npt.NDArray[np.int32]

EVERYTHING = "*"
"""Stands for all libraries where the name of one may be given."""
STANDARD_LIBRARY = "Python"


@dataclass(frozen=True)
class SourceSpan:
    """Where a line came from.

    `file` is its path on this machine, `public` the one that others may see. Lines and columns count from 1;
    `end_column` is exclusive, 0 when unknown. `library` is whether the line is that of a library, because no line of
    the user's own code made it.
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
    library: bool = False
    public: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """The cell, or the file's path from the notebook's folder or its package on."""
        return SourceFile(self.file, self.cell, not self.library, self.public).label

    def __repr__(self) -> str:
        marks = "".join(f", {mark}=True" for mark in ("inferred", "gradient", "library") if getattr(self, mark))
        return f"SourceSpan({self.label!r}, line={self.line}, function={self.function!r}{marks})"

    @property
    def end(self) -> tuple[int, int]:
        """(line, column) after the expression's last character; column 0 when unknown."""
        return self.end_line, self.end_column

    def __str__(self) -> str:
        return f"{self.label}:{self.line} ({self.function})"


class TextInEditor(NamedTuple):
    """A file's text where its user edits it.

    Attributes:
      cells: the ids of the notebook cells whose text it is, the newest first.
      crc: `zlib.crc32` of the UTF-8 text that ran; lines are those of an editor whose text has the same. None where
        they may be others.
    """

    cells: tuple[str, ...] = ()
    crc: int | None = None


@dataclass(frozen=True)
class SourceFile:
    """A file or cell that frames point into.

    Attributes:
      name: its path on this machine.
      cell: the label of the cell, such as "In [5]"; None for a file.
      user: False for installed libraries.
      public: its path as others may see it; "" where nobody has given it another than `public_path`.
      in_editor: reads its text in the editor; nothing is read before it is called.
    """

    name: str = field(repr=False)
    cell: str | None = None
    user: bool = True
    public: str = field(default="", compare=False)
    in_editor: Callable[[], TextInEditor] = field(default=TextInEditor, compare=False, repr=False)

    @property
    def cells(self) -> tuple[str, ...]:
        """The ids of the notebook cells whose text this file is."""
        return self.in_editor().cells

    @property
    def crc(self) -> int | None:
        """The checksum of its text as it ran; None where it is unknown."""
        return self.in_editor().crc

    @property
    def public_name(self) -> str:
        """The name that is saved: that of the cell, or the file's path without what only this machine has."""
        return self.cell or self.public or public_path(self.name)

    @property
    def label(self) -> str:
        """The cell, or the file's path from the notebook's folder or its package on."""
        return INSTALLED.sub("", self.public_name)

    @property
    def package(self) -> str:
        """The installed package that the file belongs to, such as "flax"; "" for the user's own files."""
        if self.user:
            return ""
        inside = INSTALLED.sub("", self.name)
        return re.split(r"[/\\]", inside)[0].removesuffix(".py") if inside != self.name else STANDARD_LIBRARY

    def is_called(self, name: str) -> bool:
        """Whether this is the file with this path or label."""
        return name in (self.name, self.cell, self.public_name, self.label)


@dataclass(frozen=True, eq=False)
class Frames:
    """The call stacks of one Inspection, shared by all its documents.

    Columns have one entry a frame. `file` and `function` index `files` and
    `functions`; `parent` is the calling frame or -1. `user` is the frame whose
    line counts: the nearest frame of the user's own code, the frame itself or
    a caller; else the nearest of the package that was inspected; else the
    frame itself.
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
            library=not source.user,
            public=source.public,
        )

    @cached_property
    def in_library(self) -> npt.NDArray[np.bool_]:
        """Which frames' lines that count are those of a library."""
        library = np.array([not source.user for source in self.files], bool)
        return library[self.file[np.where(self.user >= 0, self.user, np.arange(len(self)))]]

    def inside(self, library: str) -> Ints:
        """The frames in a package; "" names the user's own files, `EVERYTHING` all libraries."""
        wanted = [library == f.package or (library == EVERYTHING and not f.user) for f in self.files]
        return np.flatnonzero(np.array(wanted, bool)[self.file]).astype(np.int32)

    def counting(self, libraries: Collection[str]) -> Frames:
        """The same frames, where the lines of these packages count as the user's own do; `EVERYTHING` names all."""
        counts = [f.user or EVERYTHING in libraries or f.package in libraries for f in self.files]
        own = np.array(counts, bool)[self.file].tolist()
        user = self.user.tolist()
        for frame, parent in enumerate(self.parent.tolist()):
            nearest = frame if own[frame] else user[parent] if parent >= 0 else -1
            user[frame] = nearest if nearest >= 0 and own[nearest] else user[frame]
        return replace(self, user=np.array(user, np.int32))

    def stack(self, frame: int) -> list[int]:
        """The frame and its callers, innermost first."""
        chain = []
        while frame >= 0:
            chain.append(frame)
            frame = int(self.parent[frame])
        return chain

    def at(self, file: str, line: int) -> npt.NDArray[np.bool_]:
        """Which frames' expressions include this line (a path or the label of a cell or file)."""
        wanted = [i for i, f in enumerate(self.files) if f.is_called(file)]
        return np.isin(self.file, wanted) & (self.line <= line) & (line <= np.maximum(self.end_line, self.line))
