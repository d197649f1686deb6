"""A table as text: columns side by side, sentences in several lines."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence, Set
from itertools import zip_longest

LONGEST_LINE = 76
"""Letters of a cell's line: with the columns beside it that is about what a notebook of 1,400 pixels does not break."""


def lines(cells: Mapping[str, Sequence[str]], to_the_right: Set[str]) -> list[str]:
    """The titles, then each row; columns `to_the_right` are aligned so. Columns without rows are left out."""
    wrapped = {title: [_wrapped(text) for text in texts] for title, texts in cells.items() if texts}
    if not wrapped:
        return []
    widths = {title: max(len(title), *(len(line) for cell in column for line in cell), 1)
              for title, column in wrapped.items()}  # fmt: skip

    def row(parts: Sequence[str]) -> str:
        padded = (
            part.rjust(width) if title in to_the_right else part.ljust(width)
            for part, (title, width) in zip(parts, widths.items(), strict=True)
        )
        return "  ".join(padded).rstrip()

    rows = zip(*wrapped.values(), strict=True)
    return [row(list(wrapped)), *(row(parts) for cells in rows for parts in zip_longest(*cells, fillvalue=""))]


def _wrapped(text: str) -> list[str]:
    if len(text) <= LONGEST_LINE:
        return [text]
    return textwrap.wrap(text, LONGEST_LINE, break_long_words=False, break_on_hyphens=False)
