"""What is too long to be shown whole: texts cut at their end, and lists of which the first few are named."""

from __future__ import annotations

from collections.abc import Sequence


def shortened(text: str, most: int) -> str:
    """The text in at most so many characters, with "…" as the last one if it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def some(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """`a, b and 3 more`: the first `most` of them, and how many more there are."""
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return separator.join(texts[:most]) + more
