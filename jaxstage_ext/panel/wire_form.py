"""The one form in which columns and tables travel to the page: described in JSON, their bytes gzipped beside it.

`labextension/src/wire/columns.ts` reads it. A column is little-endian numbers ("u1", "i4", "f4", "f8"), texts one a
line ("text"), or numbers of the texts in `strings`, -1 for none. What a table shows has a title; why a value is unknown
is a column of its own, "<name>: why".
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from jaxstage_ext.panel.params import Answer
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.table import Table, is_number, plain
from jaxstage_ext.report.text.cell_text import SHARES

NOTHING = "–"
"""In place of an empty text, which is known and says nothing."""
MOST_REASONS = 2000
"""Different reasons that are sent of one column."""
_KINDS = {"|u1": "u1", "<f4": "f4"}
About: TypeAlias = Mapping[str, Mapping[str, Any]]


class TextLines(tuple[str, ...]):
    """Texts that differ from row to row, such as names of instructions."""


class CodedTexts:
    """Texts that repeat: each once, and for each row which one it has; -1 for None."""

    def __init__(self, strings: Sequence[str], codes: Any) -> None:
        self.strings, self.codes = list(strings), np.asarray(codes, np.int64)

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> CodedTexts:
        """The texts of all rows."""
        number = Numbering[str]()
        codes = [-1 if text is None else number[text] for text in texts]
        return cls(list(number), codes)


def pack(data: bytes) -> bytes:
    """Gzip at the level that costs least; the same bytes each time."""
    return gzip.compress(data, 1, mtime=0)


def packed(columns: Mapping[str, Any], about: About = MappingProxyType({})) -> Answer:
    """Columns by name: arrays, `TextLines` or `CodedTexts`; `about` adds to the description of some."""
    described, strings, buffers = [], {}, []
    for name, column in columns.items():
        if isinstance(column, CodedTexts):
            strings[name], column = column.strings, column.codes
        kind, data = _bytes(column)
        described.append({"name": name, "dtype": kind, **about.get(name, {})})
        buffers.append(pack(data))
    return {"columns": described} | ({"strings": strings} if strings else {}), buffers


def _bytes(column: Any) -> tuple[str, bytes]:
    if isinstance(column, TextLines):
        return "text", "\n".join(text.replace("\n", " ") for text in column).encode("utf-8", "replace")
    values = np.asarray(column)
    kind = _KINDS.get(values.dtype.str) or ("f8" if values.dtype.kind == "f" else "i4")
    return kind, np.ascontiguousarray(values, f"<{kind}").tobytes()


def joined(answers: Mapping[str, Answer], after: int = 0) -> Answer:
    """Several in one reply, by name; each says which buffer is its `first`, `after` so many of others."""
    parts: dict[str, Any] = {}
    buffers: list[bytes] = []
    for name, (result, own) in answers.items():
        parts[name] = {**result, "first": after + len(buffers)}
        buffers += own
    return parts, buffers


def packed_table(
    table: Table, titles: Mapping[str, str], lines: Collection[str] = (), beside: Collection[str] = ()
) -> Answer:
    """The columns of a table that have a title, with all that is needed to show them.

    `lines` are those whose texts hardly repeat. `beside` names whole numbers that are sent and not shown, as "row" is.
    """
    columns: dict[str, Any] = {}
    about: dict[str, dict[str, Any]] = {}
    reasons: dict[str, dict[int, str]] = {}
    for (row, name), why in table.reasons.items():
        reasons.setdefault(name, {})[row] = why
    for name, title in titles.items():
        column = table.columns[name]
        columns[name] = _values(column.values, TextLines if name in lines else CodedTexts.of)
        about[name] = {"title": title, "hint": column.doc, "unit": "share" if name in SHARES else column.unit}
        about[name] |= {"answer": True} if column.is_answer else {}
        if name in reasons:
            columns[f"{name}: why"] = _reasons(reasons[name], len(table))
    columns |= {name: np.asarray(table[name], np.int64) for name in ("row", *beside) if name in table.columns}
    return packed(columns, about)


def _values(values: Any, texts: Callable[[Iterable[Any]], Any]) -> Any:
    known = [plain(value) for value in values]
    if any(is_number(value) for value in values):
        return np.array([np.nan if value is None else value for value in known], np.float64)
    return texts(None if value is None else str(value) or NOTHING for value in known)


def _reasons(reasons: Mapping[int, str], length: int) -> CodedTexts:
    coded = CodedTexts.of(reasons.get(row) or None for row in range(length))
    codes: npt.NDArray[np.int64] = np.where(coded.codes < MOST_REASONS, coded.codes, -1)
    return CodedTexts(coded.strings[:MOST_REASONS], codes)
