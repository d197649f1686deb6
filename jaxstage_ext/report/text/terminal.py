"""Text as a terminal takes it: no escape sequences, and measured in columns."""

from __future__ import annotations

import re
import unicodedata

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """One line without escape sequences and without characters that move other text about."""
    return _CONTROLS.sub("\ufffd", _ANSI.sub("", text)).expandtabs(8)


def cells(char: str) -> int:
    """Columns of a terminal that a character takes."""
    if char.isascii():
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return len(text) if text.isascii() else sum(map(cells, text))


def cut(text: str, columns: int) -> str:
    """The text in at most so many columns, "…" where something was cut."""
    if len(text) <= columns and width(text) <= columns:
        return text
    kept, used = [], 1
    for char in text[: columns + 64]:
        used += cells(char)
        if used > columns:
            break
        kept.append(char)
    return "".join(kept) + "…" if columns > 0 else ""


def cut_start(text: str, columns: int) -> str:
    """The end of a text in at most so many columns, "…" where its beginning was cut: what a path is told by."""
    return cut(text[::-1], columns)[::-1]
