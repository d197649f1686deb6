"""Names of files as messages have them: whoever named a file does not lay out the message."""

from __future__ import annotations

from jaxstage_ext.report.text.shortened import shortened

_LONGEST = 200


def shown(name: str) -> str:
    """The name; quoted where it holds a line break, an escape sequence or the like, and cut short."""
    cut = shortened(name, _LONGEST)
    return cut if cut.isprintable() else repr(cut)
