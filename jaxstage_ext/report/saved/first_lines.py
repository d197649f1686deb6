"""Documents cut to their first lines, with the call stacks that these refer to and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.document import LEFT_OUT, Document
from jaxstage_ext.report.frames import Frames, Ints
from jaxstage_ext.report.line_table import HEAD, LONGEST_LINE, TAIL, rows_of

_ELIDED = HEAD + TAIL + 40
"""Characters, at most, of a line that loses its middle."""
Lengths = npt.NDArray[np.int64]


def sizes(document: Document) -> Lengths:
    """Characters of the first line, the first two lines, and so on, long lines without their middle."""
    length = np.diff(rows_of(document).starts)
    total: Lengths = np.cumsum(np.where(length > LONGEST_LINE, _ELIDED, length))
    return total


def has_long_lines(document: Document) -> bool:
    """Whether a line is so long that views show it without its middle."""
    return len(rows_of(document).long) > 0


def without_long_lines(document: Document) -> Document:
    """The document as views show it."""
    return replace(document, text=rows_of(document).view(0, len(document)))


def remark(count: int, lines: int) -> str:
    """How much of a document of so many lines a saved notebook holds."""
    return f"first {count:,} of {lines:,} lines; the rest is not in the saved notebook"


def first_lines(document: Document, count: int) -> Document:
    """The first lines of a longer document, and a last line that says so."""
    columns = {name: getattr(document, name) for name in document.COLUMNS}
    cut: dict[str, Any] = {
        name: np.append(column[:count], column.dtype.type(-1))
        for name, column in columns.items()
        if column is not None and name != "flags"
    }
    cut["fold_end"] = np.minimum(cut["fold_end"], count - 1)
    if "origin" in cut:
        cut["origin"] = np.where(cut["origin"] < count, cut["origin"], -1).astype(np.int32)
    cut["scope"], scopes = _used_scopes(cut["scope"], document.scopes)
    flags = np.append(document.flags[:count], np.uint8(LEFT_OUT))
    text = f"{rows_of(document).view(0, count)}\n… {remark(count, len(document))}"
    return replace(document, text=text, flags=flags, scopes=scopes, **cut)


def _used_scopes(scope: Ints, scopes: tuple[str, ...]) -> tuple[Ints, tuple[str, ...]]:
    used = np.unique(scope[scope >= 0])
    return _renumbered(scope, used, len(scopes)), tuple(scopes[number] for number in used.tolist())


def _renumbered(column: Ints, used: npt.NDArray[np.integer], count: int) -> Ints:
    """References into a list of `count` entries as references into the `used` ones of them; -1 stays."""
    place = np.full(count + 1, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return place[column]


def with_used_frames(frames: Frames, documents: Mapping[str, Document]) -> tuple[Frames, dict[str, Document]]:
    """The call stacks that these documents refer to, and the documents referring to them."""
    used = _used_frames(frames, documents)
    files = [frames.file[used], *(d.file[d.file >= 0] for d in documents.values() if d.file is not None)]
    used_files = np.unique(np.concatenate(files))
    used_functions = np.unique(frames.function[used])
    columns = {name: getattr(frames, name)[used] for name in frames.COLUMNS}
    columns |= {name: _renumbered(columns[name], used, len(frames)) for name in ("parent", "user")}
    columns["file"] = _renumbered(columns["file"], used_files, len(frames.files))
    columns["function"] = _renumbered(columns["function"], used_functions, len(frames.functions))
    kept = Frames(
        tuple(frames.files[file] for file in used_files.tolist()),
        tuple(frames.functions[function] for function in used_functions.tolist()),
        **columns,
    )
    return kept, {kind: _referring(d, kept, used, used_files, frames) for kind, d in documents.items()}


def _referring(document: Document, kept: Frames, used: Ints, used_files: Ints, frames: Frames) -> Document:
    frame = _renumbered(document.frame, used, len(frames))
    file = None if document.file is None else _renumbered(document.file, used_files, len(frames.files))
    return replace(document, frames=kept, frame=frame, file=file)


def _used_frames(frames: Frames, documents: Mapping[str, Document]) -> Ints:
    """The frames of all lines, and the frames that lead to them."""
    is_used = np.zeros(len(frames) + 1, bool)
    new = np.unique(np.concatenate([np.zeros(0, np.int32), *(d.frame[d.frame >= 0] for d in documents.values())]))
    while len(new):
        is_used[new] = True
        nearby = np.unique(np.concatenate([frames.parent[new], frames.user[new]]))
        new = nearby[(nearby >= 0) & ~is_used[nearby]]
    return np.flatnonzero(is_used).astype(np.int32)
