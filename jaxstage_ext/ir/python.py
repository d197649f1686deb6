"""Source as one Document: every cell and file that the program's frames are in, one after another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

import numpy as np

from jaxstage_ext.ir import source_wording
from jaxstage_ext.ir.source import FrameTable
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames, Ints

WHOLE_FILE = 200
"""Files up to this many lines are shown whole; of longer files, only the functions that frames are in."""


def read(
    frames: Frames,
    table: FrameTable,
    shown: Ints,
    first: Iterable[tuple[str, int]] = (),
    kind: str = "python",
) -> Document:
    """The document of the files that the frames `shown` are in.

    The (file, line) places in `first` come first, then the user's files.
    """
    names: dict[str, set[int]] = {}
    for name, line in first:
        names.setdefault(name, set()).add(line)
    library = np.array([not source.user for source in frames.files], bool)
    for frame in shown[np.argsort(library[frames.file[shown]], kind="stable")].tolist():
        names.setdefault(frames.files[frames.file[frame]].name, set()).add(int(frames.line[frame]))
    text: list[str] = []
    file: list[int] = []
    number: list[int] = []
    ends: list[tuple[int, int]] = []
    for name, used in names.items():
        source, state = table.sources.text(name)
        index = table.file(name)
        label = table.freeze().files[index].label
        start = len(text)
        text.append(source_wording.title(label, state, table.remarks.get(name, "")))
        file.append(index)
        number.append(-1)
        for line in _wanted(source, used):
            text.append(_as_typed(source[line - 1]) if line else "…")
            file.append(index)
            number.append(line or -1)
        if len(text) - 1 > start:
            ends.append((start, len(text) - 1))
    return _document(kind, text or [""], file or [-1], number or [-1], ends, table.freeze())


def _document(
    kind: str, text: list[str], file: list[int], number: list[int], ends: list[tuple[int, int]], frames: Frames
) -> Document:
    n = len(text)
    fold_end = np.full(n, -1, np.int32)
    for start, end in ends:
        fold_end[start] = end
    none = np.full(n, -1, np.int32)
    flat = "\n".join(line.replace("\r", "").replace("\f", "") for line in text)
    return Document(
        kind,
        flat,
        frames,
        none,
        np.zeros(n, np.uint8),
        fold_end,
        none,
        file=np.array(file, np.int32),
        number=np.array(number, np.int32),
    )


def _as_typed(line: str) -> str:
    """The line as its author typed it: compiled source has a cell magic as a comment."""
    return line.rstrip("\n").removeprefix("# ") if line.startswith("# %%") else line.rstrip("\n")


def _wanted(source: Sequence[str], used: Iterable[int]) -> list[int]:
    """Line numbers to show; 0 marks lines that are left out."""
    n = len(source)
    if n <= WHOLE_FILE:
        return list(range(1, n + 1))
    shown: list[int] = []
    for start, end in _blocks(source, sorted(used)):
        if shown and start > shown[-1] + 1:
            shown.append(0)
        shown.extend(range(max(start, (shown[-1] + 1) if shown and shown[-1] else start), end + 1))
    return shown


def _blocks(source: Sequence[str], used: list[int]) -> list[tuple[int, int]]:
    """The outermost functions (methods of classes, not whole classes) around the lines used."""
    try:
        tree = ast.parse("".join(source))
    except SyntaxError:
        return [(max(1, line - 10), min(len(source), line + 10)) for line in used if line <= len(source)]
    blocks = [_span(node) for node in _functions(tree.body)]
    shown = set()
    for line in used:
        around = [(a, b) for a, b in blocks if a <= line <= b]
        if line <= len(source):
            shown.add(around[0] if around else (line, line))
    return sorted(shown)


def _functions(body: list[ast.stmt]) -> Iterable[ast.stmt]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body)
        else:
            yield node


def _span(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(d.lineno for d in decorators)])
    return start, node.end_lineno or node.lineno
