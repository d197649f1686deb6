"""A short text for language models: lines within a limit of bytes, where what matters less gives way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.terminal import clean

MOST_BYTES = 2000
MIME_TYPE = "text/llm+plain"
"""What notebooks call the form that `_repr_llm_` gives."""
_LONGEST_LINE = 400


def brief_text(first: Sequence[str], between: Iterable[str], last: Sequence[str], most: int = MOST_BYTES) -> str:
    """The lines of all three in order, in at most so many bytes of UTF-8.

    `first` and `last` are kept, and of `between` as many as there is room for; the place of the others says "…". Names
    in a line are data: it holds no line end, no control character, and no path of this machine.
    """
    head, tail = [line_of(line) for line in first], [line_of(line) for line in last]
    room, kept = most - _size([*head, *tail, "…"]), list[str]()
    for line in map(line_of, between):
        room -= _size([line])
        if room < 0:
            kept.append("…")
            break
        kept.append(line)
    return _cut("\n".join([*head, *kept, *tail]), most)


def line_of(text: str, most: int = _LONGEST_LINE) -> str:
    """One line of at most so many bytes, cut at its end."""
    return _cut(clean(public_folders(text[: 4 * most])), most)


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _cut(text: str, most: int) -> str:
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[: most - 3].decode("utf-8", "ignore") + "…"
