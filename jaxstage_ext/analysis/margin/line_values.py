"""Marks beside the lines of the documents, and the value that each line computes."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.numbering import Numbering

MOST_NAMED = 12
"""Most values listed for one line."""
_BACKWARD = "transpose("
_EQUATION = re.compile(r"^\s*\w+:(?P<dtype>\w+)\[(?P<dims>[^\]]*)\][^=]* = (?P<op>[\w-]+)")
_AXES = re.compile(r"@(?:\([^()]*\)|\w+)")
_RESULT = re.compile(r"^\s*%\w+ = .*\btensor<(?P<dims>(?:\d+x)*)(?P<dtype>\w+)>$")

Item = TypeVar("Item", bound=Hashable)


class Mark(NamedTuple):
    """A mark beside a line: a few characters, their kind, and the full text line by line."""

    label: str
    kind: str
    text: str


@dataclass(frozen=True)
class Lane:
    """The marks beside the lines of each document, by row."""

    marks: Mapping[str, Mapping[int, Mark]]
    notes: tuple[str, ...] = ()


class Site(NamedTuple):
    """A line that computes an array."""

    row: int
    op: str
    """Name of the JAX primitive."""
    dims: tuple[int, ...]
    """Of the whole array."""
    dtype: str
    """As the document spells it."""
    chain: int
    place: int
    """`chain`, `place`: numbers of the user's call stack and of its innermost line, -1 unknown."""
    backward: bool
    """Whether it belongs to a derivative."""


class Chains:
    """Numbers call stacks by their lines alone: documents give different columns for the same stack."""

    def __init__(self, frames: Frames) -> None:
        self._chain: list[int] = []
        self._place: list[int] = []
        chains = Numbering[tuple[int, int]]()
        places = Numbering[tuple[int, int]]()
        columns = (frames.parent, frames.user, frames.file, frames.line)
        for frame, (parent, user, file, line) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            above = (self._chain[parent], self._place[parent]) if parent >= 0 else (-1, -1)
            place = places[file, line] if user == frame else above[1]
            same = place == above[1]
            self._place.append(place)
            self._chain.append(above[0] if same else chains[above[0], place])

    def of(self, frame: int) -> tuple[int, int]:
        """(chain, place) of a frame, -1 where unknown."""
        return (self._chain[frame], self._place[frame]) if 0 <= frame < len(self._chain) else (-1, -1)


def sites(document: Document, chains: Chains) -> list[Site]:
    """The lines of a jaxpr or StableHLO module that compute arrays."""
    computing = _equations(document) if document.kind == "jaxpr" else _operations(document)
    return [
        Site(row, op, dims, dtype, *chains.of(int(document.frame[row])), _BACKWARD in document.scope_name(row))
        for row, op, dims, dtype in computing
    ]


def is_backward(scope: str) -> bool:
    """Whether a name scope belongs to a derivative."""
    return _BACKWARD in scope


def _equations(document: Document) -> Iterator[tuple[int, str, tuple[int, ...], str]]:
    for row, line in enumerate(document.lines):
        if (match := _EQUATION.match(line)) is None:
            continue
        sizes = [size for size in _AXES.sub("", match["dims"]).split(",") if size]
        if all(size.isdecimal() for size in sizes):
            yield row, match["op"], tuple(map(int, sizes)), match["dtype"]


def _operations(document: Document) -> Iterator[tuple[int, str, tuple[int, ...], str]]:
    for row, line in enumerate(document.lines):
        if document.scope[row] >= 0 and (match := _RESULT.match(line)) is not None:
            dims = tuple(map(int, match["dims"].split("x")[:-1]))
            yield row, document.scope_name(row).rsplit("/", 1)[-1], dims, match["dtype"]


def paired(
    rows: Sequence[tuple[int, Hashable]], items: Sequence[tuple[Item, Hashable]]
) -> Iterator[tuple[int, tuple[Item, ...], bool]]:
    """(row, the items of its key, whether they were matched by order alone), for rows whose key has items.

    Where all items of a key are equal, each row has that item; where there are as many rows as items, they are matched
    in order; otherwise each row has all of them.
    """
    of_key: dict[Hashable, list[Item]] = {}
    for item, key in items:
        of_key.setdefault(key, []).append(item)
    rows_of: dict[Hashable, list[int]] = {}
    for row, key in rows:
        rows_of.setdefault(key, []).append(row)
    for key, rows_of_key in rows_of.items():
        of_this = of_key.get(key, [])
        distinct = tuple(dict.fromkeys(of_this))
        in_order = len(distinct) > 1 and len(of_this) == len(rows_of_key)
        for place, row in enumerate(rows_of_key if of_this else ()):
            yield row, (of_this[place],) if in_order else distinct, in_order


def rows_by_line(document: Document) -> dict[str, int]:
    """The row of the source document of each line, by names such as "In [5]:3"."""
    if document.file is None or document.number is None:
        return {}
    labels = [where.label for where in document.frames.files]
    columns = zip(document.file.tolist(), document.number.tolist(), strict=True)
    return {f"{labels[file]}:{number}": row for row, (file, number) in enumerate(columns) if number >= 0}


def listed(texts: Sequence[str]) -> str:
    """The first of some lines of text, and how many more there are."""
    more = [f"and {len(texts) - MOST_NAMED} more"] if len(texts) > MOST_NAMED else []
    return "\n".join([*texts[:MOST_NAMED], *more])
