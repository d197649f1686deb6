"""A table that stands still, described once: `lines` is its text, `markup.table` its HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from itertools import zip_longest

from jaxstage_ext.report.text.terminal import cut, width
from jaxstage_ext.report.text.units import plural

LONGEST_LINE = 76
"""Columns of a cell's line: with the columns beside it that is about what a notebook of 1,400 pixels does not break."""


class Colour(StrEnum):
    """What a colour says. Each stands out against white and against black, since the page's theme is not known."""

    NONE = ""
    DIM = "#71767d"
    GOOD = "#2d854b"
    WARN = "#a36837"
    BAD = "#cf4545"


class Face(Enum):
    """How letters are drawn; a block is lines of code, and lines of it are added and removed."""

    TEXT = "text"
    STRONG = "strong"
    CODE = "code"
    BLOCK = "block"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class Picture:
    """A PNG, as many pixels large as it is shown, and what it shows in words."""

    png: bytes
    width: int
    height: int
    alt: str = ""


@dataclass(frozen=True)
class Span:
    """A text with its look. `hint` is shown on hover, `edge` a colour at its left, `picture` before it."""

    text: str
    colour: str = Colour.NONE
    face: Face = Face.TEXT
    hint: str = ""
    edge: str = ""
    picture: Picture | None = None


Cell = str | Span | tuple[Span, ...]
"""A text, or several one below the other."""


@dataclass(frozen=True)
class Head:
    """A column's title. Figures stand at the right; a column that wraps is at least, and at most, so many em wide."""

    title: str
    is_figure: bool = False
    hint: str = ""
    least: int = 0
    most: int = 0


@dataclass(frozen=True)
class StillTable:
    """The first rows of a table, as they are shown.

    Attributes:
      title: what stands above it.
      heads: its columns; none for a table without titles, whose cells all stand at the left.
      left_out: how many rows are not shown.   noun: what one of them is called, and several.
      shares: each row's part of the whole; none where the rows do not make up one.
      is_open: whether a page shows it at once, below its title.
      is_code: whether its cells are in a typeface of code.
    """

    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    left_out: int = 0
    noun: tuple[str, str] = ("more row", "more rows")
    shares: tuple[float, ...] = ()
    is_open: bool = False
    is_code: bool = False

    @property
    def titles(self) -> tuple[str, ...]:
        """Those of its columns."""
        return tuple(head.title for head in self.heads)

    @property
    def more(self) -> str:
        """`and 3 more rows`; "" where all are shown."""
        return f"and {plural(self.left_out, *self.noun)}" if self.left_out else ""

    def first(self, most: int) -> StillTable:
        """Its first rows."""
        return replace(self, rows=self.rows[:most], left_out=self.left_out + max(len(self.rows) - most, 0))

    def folded(self, columns: int, widest: int) -> Iterator[StillTable]:
        """The table in parts that are no wider, one below the other; each begins with its first column.

        No cell is wider than `widest`.
        """
        texts = [(head.title, *(_text(row[at]) for row in self.rows)) for at, head in enumerate(self.heads)]
        sizes = [min(max(map(width, column)), widest) for column in texts]
        parts: list[list[int]] = [[0]]
        for at in range(1, len(sizes)):
            if len(parts[-1]) > 1 and sum(sizes[each] + 2 for each in (*parts[-1], at)) - 2 > columns:
                parts.append([0])
            parts[-1].append(at)
        for part in parts:
            heads = tuple(replace(self.heads[at], title=cut(texts[at][0], widest)) for at in part)
            yield replace(
                self, heads=heads, rows=tuple(tuple(cut(_text(row[at]), widest) for at in part) for row in self.rows)
            )


def lines(table: StillTable, longest: int = 0) -> list[str]:
    """The titles, then each row, and how many are left out; a cell longer than `longest` stands in several lines."""
    texts = [*([table.titles] if table.heads else []), *(tuple(map(_text, row)) for row in table.rows)]
    wrapped = [[_wrapped(text, longest or width(text)) for text in row] for row in texts]
    widths = [max(1, *(width(line) for cell in column for line in cell)) for column in zip(*wrapped, strict=True)]
    figures = [head.is_figure for head in table.heads] or [False] * len(widths)

    def line(parts: Sequence[str]) -> str:
        cells = zip(parts, widths, figures, strict=True)
        padded = (_room(text, size) + text if figure else text + _room(text, size) for text, size, figure in cells)
        return "  ".join(padded).rstrip()

    made = [line(parts) for row in wrapped for parts in zip_longest(*row, fillvalue="")]
    return made + ([table.more] if table.more else [])


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return cell.text if isinstance(cell, Span) else " ".join(span.text for span in cell)


def _room(text: str, size: int) -> str:
    return " " * (size - width(text))


def _wrapped(text: str, longest: int) -> list[str]:
    if width(text) <= longest:
        return [text]
    return textwrap.wrap(text, longest, break_long_words=False, break_on_hyphens=False)
