"""Source as one Document: of every cell and file that the program's frames are in, the functions that took part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jaxstage_ext.ir.sources import source_wording
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.ir.sources.source_regions import Region, UsedPlace, regions
from jaxstage_ext.ir.sources.source_texts import SourceState
from jaxstage_ext.report.document import LEFT_OUT, Document
from jaxstage_ext.report.frames import Frames, Ints
from jaxstage_ext.report.text.public_paths import masked_source
from jaxstage_ext.report.text.units import plural

Places = Iterable[tuple[str, UsedPlace]]
"""Files, and what of each took part."""


class SourceRow(NamedTuple):
    """A row of the document: a line of a file, a file's title, or a stretch that is not shown."""

    text: str
    file: int
    number: int = -1
    flags: int = 0


def read(
    frames: Frames,
    table: FrameTable,
    shown: Ints,
    first: Places = (),
    kind: str = "python",
    alone: Iterable[int] = (),
    whole: bool = False,
) -> Document:
    """The document of the functions that the frames `shown` are in; of the frames `alone`, their own lines only.

    The files of the places in `first` come first, then the user's files. `whole` shows all lines of the files.
    """
    used: dict[str, list[UsedPlace]] = {}
    moved = ((name, _moved(place, table.sources.shift(name, place.function))) for name, place in first)
    for name, place in (*moved, *_places(frames, shown, frozenset(alone))):
        used.setdefault(name, []).append(place)
    rows: list[SourceRow] = []
    ends: list[Region] = []
    for name, places in used.items():
        start = len(rows)
        rows += _rows(name, places, table, whole)
        if len(rows) - 1 > start:
            ends.append((start, len(rows) - 1))
    return _document(kind, rows or [SourceRow("", -1)], ends, table.freeze())


def _moved(place: UsedPlace, shift: int) -> UsedPlace:
    return place._replace(line=place.line + shift, end_line=place.end_line + shift)


def _places(frames: Frames, shown: Ints, alone: frozenset[int]) -> Iterator[tuple[str, UsedPlace]]:
    library = np.array([not source.user for source in frames.files], bool)
    for frame in shown[np.argsort(library[frames.file[shown]], kind="stable")].tolist():
        line, end_line = int(frames.line[frame]), int(frames.end_line[frame])
        function = frames.functions[frames.function[frame]]
        yield frames.files[frames.file[frame]].name, UsedPlace(line, end_line, function, frame in alone)


def _rows(name: str, places: Sequence[UsedPlace], table: FrameTable, whole: bool) -> Iterator[SourceRow]:
    (source, state), index = table.sources.text(name), table.file(name)
    yield SourceRow(source_wording.title(table.source(name).label, state, table.remarks.get(name, "")), index)
    last = 0
    shown = [(1, len(source))] if whole else regions(source, places, state is not SourceState.OTHER_CODE)
    for start, end in shown:
        yield from _left_out(source, last + 1, start - 1, index)
        yield from (SourceRow(_as_typed(source[line - 1]), index, line) for line in range(start, end + 1))
        last = end
    yield from _left_out(source, last + 1, len(source), index)


def _left_out(source: Sequence[str], start: int, end: int, file: int) -> Iterator[SourceRow]:
    if any(line.strip() for line in source[start - 1 : end]):
        yield SourceRow(f"… {plural(end - start + 1, 'line')} not shown", file, flags=LEFT_OUT)


def _document(kind: str, rows: Sequence[SourceRow], ends: Iterable[Region], frames: Frames) -> Document:
    text, file, number, flags = zip(*rows, strict=True)
    fold_end, none = (np.full(len(rows), -1, np.int32) for _ in range(2))
    for start, end in ends:
        fold_end[start] = end
    flat = "\n".join(line.replace("\r", "").replace("\f", "") for line in text)
    return Document(
        kind,
        masked_source(flat),
        frames,
        none,
        np.array(flags, np.uint8),
        fold_end,
        none,
        file=np.array(file, np.int32),
        number=np.array(number, np.int32),
    )


def _as_typed(line: str) -> str:
    """The line as its author typed it: compiled source has a cell magic as a comment."""
    return line.rstrip("\n").removeprefix("# ") if line.startswith("# %%") else line.rstrip("\n")
