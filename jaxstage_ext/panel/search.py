"""Finding text and names in documents of any size."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

import numpy as np

from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Ints
from jaxstage_ext.report.line_table import Positions, Rows, rows_of

MOST_HITS = 20_000
MOST_USES = 1000


def find(doc: Document, query: str, case: bool, most: int = MOST_HITS) -> tuple[int, Ints, Ints]:
    """All hits of a text in the document as shown.

    Returns the exact number of hits, and the rows and columns of the first
    `most`; columns count from 0 in UTF-16 units, as a browser counts them.
    An empty text has no hits; asking for it when a search begins makes the
    first letter quick.
    """
    rows, wanted = rows_of(doc), query if case else _folded(query)
    if not query and not case:
        _folded_text(doc)
    if not query or "\n" in query:
        return 0, np.zeros(0, np.int32), np.zeros(0, np.int32)
    if not len(rows.long):
        text = doc.text if case else _folded_text(doc)
        hits, total = _hits(text, wanted, most)
        row = np.searchsorted(rows.starts, hits, side="right") - 1
        return total, row.astype(np.int32), _utf16(doc.text, rows.starts[row], hits).astype(np.int32)
    return _find_in_view(rows, wanted, case, most)


def _find_in_view(rows: Rows, wanted: str, case: bool, most: int) -> tuple[int, Ints, Ints]:
    """`find` where long lines are elided: what is not shown is not found."""
    total, at_rows, at_columns = 0, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start, end in rows.chunks():
        view = rows.view(start, end)
        hits, n = _hits(view if case else _folded(view), wanted, most - min(total, most))
        total += n
        if len(hits):
            starts = rows.starts_in(start, end, view)
            local = np.searchsorted(starts, hits, side="right") - 1
            at_rows.append(local + start)
            at_columns.append(_utf16(view, starts[local], hits))
    return total, np.concatenate(at_rows).astype(np.int32), np.concatenate(at_columns).astype(np.int32)


_lower: WeakKeyDictionary[Document, str] = WeakKeyDictionary()


def _folded_text(doc: Document) -> str:
    """The document's text in lower case, kept because a search is typed letter by letter."""
    if doc not in _lower:
        _lower[doc] = _folded(doc.text)
    return _lower[doc]


def _hits(text: str, wanted: str, most: int) -> tuple[Positions, int]:
    positions: list[int] = []
    at = 0
    while len(positions) < most:
        hit = text.find(wanted, at)
        if hit < 0:
            return np.array(positions, np.int64), len(positions)
        positions.append(hit)
        at = hit + len(wanted)
    return np.array(positions, np.int64), len(positions) + text.count(wanted, at)


def _folded(text: str) -> str:
    """Lower case, character by character, so that positions stay: all but one character have one of their own."""
    return "\u0130".join(part.lower() for part in text.split("\u0130"))


def _utf16(view: str, starts: Positions, hits: Positions) -> Positions:
    columns = hits - starts
    if view.isascii() or max(view) <= "\uffff":
        return columns
    wide = np.flatnonzero(np.frombuffer(view.encode("utf-32-le", "surrogatepass"), np.uint32) > 0xFFFF)
    before: Positions = np.searchsorted(wide, hits) - np.searchsorted(wide, starts)
    return columns + before


def symbol(doc: Document, name: str, row: int) -> tuple[int, list[int]]:
    """The row that defines the name seen in `row` (-1 when none does), and the rows that use it."""
    name = name.removeprefix("%")
    before = "" if name.startswith("@") else r"(?<![\w.@-])%?"
    whole = re.compile(rf"{before}{re.escape(name)}(?![\w-]|\.\w)")
    defines = re.compile(_DEFINITION.format(re.escape(name.removeprefix("@"))))
    rows = rows_of(doc)
    seen = [(r, line) for r in _mentions(doc, name) if whole.search(line := rows.line(r))]
    definitions = [r for r, line in seen if defines.search(line)]
    start, end = _block(doc, row)
    inside = [r for r in definitions if start <= r <= end]
    if inside:
        seen = [(r, line) for r, line in seen if start <= r <= end]
        definitions = inside
    definition = max((r for r in definitions if r <= row), default=definitions[0] if definitions else -1)
    return definition, [r for r, _ in seen if r != definition][:MOST_USES]


def _mentions(doc: Document, name: str) -> list[int]:
    """Rows that may hold the name; one that begins many other names is looked for with what follows names."""
    total, rows, _ = find(doc, name, True)
    if total > MOST_HITS:
        rows = np.concatenate([find(doc, name + tail, True)[1] for tail in " ,):=#(;]}"])
    return [int(row) for row in np.unique(rows)]


_DEFINITION = (
    r"^\s*(?:ROOT )?%?{0}(?::\d+)? = "  # HLO instruction, StableHLO op
    r"|^(?:ENTRY )?%?{0} \("  # HLO computation
    r"|func\.func [^@]{{0,400}}@{0}\("
    r"|(?<![\w.@-])%?{0}:\s?[a-z(!]"  # jaxpr binder, block argument
    r"|%{0} = %"  # an argument of stablehlo.while
)


def _block(doc: Document, row: int) -> tuple[int, int]:
    """The outermost function or computation around the row, else the whole document."""
    rows = rows_of(doc)
    opens = np.flatnonzero((doc.fold_end[: row + 1] >= row) & (doc.fold_end[: row + 1] >= 0))
    for start in opens.tolist():
        if doc.kind != "jaxpr" and not rows.line(start).lstrip().startswith(("module", "HloModule")):
            return start, int(doc.fold_end[start])
    return 0, len(doc) - 1
