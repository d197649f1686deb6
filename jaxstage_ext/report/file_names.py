"""Names of files as messages have them: whoever named a file does not lay out the message."""

from __future__ import annotations

_LONGEST = 200


def shown(name: str) -> str:
    """The name; quoted where it holds a line break, an escape sequence or the like, and cut short."""
    cut = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    return cut if cut.isprintable() else repr(cut)
