"""The few lines of each document that its static forms show."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from jaxstage_ext.ir.hlo.places import parameter_paths
from jaxstage_ext.report.document import LEFT_OUT, OP, Document
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.frames import Frames, SourceSpan
from jaxstage_ext.report.line_table import Rows, rows_of
from jaxstage_ext.report.text.terminal import clean

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

Place = tuple[int, int]
"""A file (index into Frames.files) and a line in it."""
MadeByLine = Mapping[Place, Mapping[str, int]]
"""How many equations, ops and instructions each source line made, by document."""

_ENTRY = {"hlo": "\nENTRY ", "stablehlo": "func.func public @main("}
_NO_WORK = re.compile(r" = \S+ (?:(?:constant|parameter|broadcast|bitcast)\(|fusion\(.*calls=%wrapped_broadcast)")
"""Instructions of HLO that compute nothing; what a broadcast or a bitcast reads stands before it."""
_MAIN_JAXPR = "{ lambda"
_BEFORE = 2
_ALL = 12
_MOST_ARGUMENTS = 12


@dataclass(frozen=True)
class ExcerptLine:
    """A line of an excerpt. `number` counts from 1, 0 for a title; a gap stands for `skipped` lines."""

    number: int
    text: str
    label: str = ""
    made: Mapping[str, int] | None = None
    failed: bool = False
    skipped: int = 0


def made_by_line(program: Program) -> dict[Place, dict[str, int]]:
    """How many equations, ops and instructions came from each source line."""
    result: dict[Place, dict[str, int]] = {}
    documents = program.readable
    for kind, named in KINDS.items():
        if named.operation and kind in documents:
            for place, n in _operations_by_line(documents[kind], program.frames):
                result.setdefault(place, {})[kind] = n
    return result


def _operations_by_line(doc: Document, frames: Frames) -> list[tuple[Place, int]]:
    if not len(frames):
        return []
    asked = doc.frame[((doc.flags & OP) > 0) & (doc.frame >= 0)]
    user = frames.user[asked]
    user = user[user >= 0]
    keys, n = np.unique(frames.file[user].astype(np.int64) << 32 | frames.line[user], return_counts=True)
    return [((int(key >> 32), int(key & 0xFFFFFFFF)), int(k)) for key, k in zip(keys, n, strict=True)]


def source(program: Program, doc: Document, most: int, made: MadeByLine | None = None) -> list[ExcerptLine]:
    """The source lines that became something, with their neighbours; at most about `most`. `doc` is the source."""
    made = made_by_line(program) if made is None else made
    failed = _failed_place(program)
    assert doc.file is not None and doc.number is not None
    places = list(zip(doc.file.tolist(), doc.number.tolist(), strict=True))
    titles = np.flatnonzero((doc.number < 0) & (doc.flags & LEFT_OUT == 0)).tolist()
    rows, wanted = rows_of(doc), _wanted_rows(places, made, failed, most, titles)
    result: list[ExcerptLine] = []
    last = -1
    for row in wanted:
        if row > last + 1:
            result.append(ExcerptLine(0, "", skipped=row - last - 1))
        number = max(places[row][1], 0)
        result.append(
            ExcerptLine(
                number, clean(rows.view(row, row + 1)), made=made.get(places[row]), failed=places[row] == failed
            )
        )
        last = row
    return result + ([ExcerptLine(0, "", skipped=len(doc) - last - 1)] if last < len(doc) - 1 else [])


def _failed_place(program: Program) -> Place | None:
    span: SourceSpan | None = program.error.span if program.error else None
    if span is None:
        return None
    files = [i for i, f in enumerate(program.frames.files) if f.name == span.file]
    return (files[0], span.line) if files else None


def _wanted_rows(
    places: list[Place], made: Mapping[Place, object], failed: Place | None, most: int, titles: list[int]
) -> list[int]:
    key = [row for row, place in enumerate(places) if place in made or place == failed]
    if not key or len(places) <= _ALL:
        return list(range(min(len(places), most)))
    for reach in (3, 1, 0):
        near = {r for row in key for r in range(row - reach, row + reach + 1) if 0 <= r < len(places)}
        near |= {titles[bisect_right(titles, row) - 1] for row in key}
        if len(near) <= most:
            break
    return sorted(near)[:most]


def ir(doc: Document, most: int) -> list[ExcerptLine]:
    """The beginning of the main part of a document, each line with its source."""
    rows = rows_of(doc)
    start = 0 if len(doc) <= most else _first_row(doc, rows, most)
    last = len(rows.text.rstrip("\n"))
    filled = int(np.searchsorted(rows.starts, last, side="right"))
    end = min(start + most, filled)
    lines = [ExcerptLine(row + 1, clean(rows.view(row, row + 1)), label_of(doc, row)) for row in range(start, end)]
    before = [ExcerptLine(0, "", skipped=start)] if start else []
    after = [ExcerptLine(0, "", skipped=filled - end)] if end < filled else []
    return before + lines + after


def chosen(doc: Document, wanted: Sequence[int]) -> list[ExcerptLine]:
    """These rows of a document, in order, each with its source, and how many lines are between them."""
    rows, lines, last = rows_of(doc), list[ExcerptLine](), -1
    for row in wanted:
        if row > last + 1:
            lines.append(ExcerptLine(0, "", skipped=row - last - 1))
        lines.append(ExcerptLine(row + 1, clean(rows.view(row, row + 1)), label_of(doc, row)))
        last = row
    return lines + ([ExcerptLine(0, "", skipped=len(doc) - last - 1)] if last < len(doc) - 1 else [])


def _first_row(doc: Document, rows: Rows, most: int) -> int:
    entry = _entry(doc, rows)
    linked = entry + np.flatnonzero(((doc.flags[entry:] & OP) > 0) & (doc.frame[entry:] >= 0))
    first = _first_work(doc, rows, linked.tolist()) if len(linked) else entry
    if first < entry + most // 2:
        return entry
    return first - _BEFORE if doc.kind == "stablehlo" else first


def _entry(doc: Document, rows: Rows) -> int:
    """The row in which the main part begins: after a jaxpr's helpers, after computations that others call."""
    if doc.kind == "jaxpr":
        at = 0 if doc.text.startswith(_MAIN_JAXPR) else doc.text.find(f"\n{_MAIN_JAXPR}") + 1
    else:
        at = doc.text.find(mark) + 1 if (mark := _ENTRY.get(doc.kind)) else 0
    return int(np.searchsorted(rows.starts, at, side="right")) - 1


def _first_work(doc: Document, rows: Rows, linked: list[int]) -> int:
    """The first linked row; of HLO the first that computes something, if there is one."""
    if doc.kind != "hlo":
        return linked[0]
    return next((row for row in linked if not _NO_WORK.search(rows.view(row, row + 1))), linked[0])


def arguments(doc: Document, lines: Sequence[ExcerptLine], authors: Mapping[str, str]) -> list[str]:
    """`%params__w__.1 is params['w']`: the path of each argument that lines of HLO name, at most twelve.

    `authors` has the paths that the author would write, where JAX's are others.
    """
    if doc.kind != "hlo":
        return []
    named = [*parameter_paths.paths_in(doc, [line.text for line in lines]).items()]
    more = [f"and {len(named) - _MOST_ARGUMENTS} more arguments"] if len(named) > _MOST_ARGUMENTS else []
    return [clean(f"%{name} is {authors.get(path, path)}") for name, path in named[:_MOST_ARGUMENTS]] + more


def label_of(doc: Document, row: int) -> str:
    """`In [5]:3`, with "gradient of" before and "(inferred)" behind where it is so."""
    span = doc.source_of(row + 1)
    if span is None:
        return ""
    where = f"{span.cell or PurePath(span.file).name}:{span.line}"
    return clean(f"{'gradient of ' if span.gradient else ''}{where}{' (inferred)' if span.inferred else ''}")
