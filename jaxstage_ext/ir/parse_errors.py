"""What XLA and MLIR say of what they cannot parse, as one line: the place and the reason, without the excerpt."""

from __future__ import annotations

import re

_PLACED = re.compile(r'(?:was parsing |error: "-":)(?P<line>\d+):(?P<column>\d+): (?:error: )?(?P<why>.*[^:\s])')
_STATUS = re.compile(r"^[A-Z_]+: ")
_IN_BYTES = "0"


def one_line(message: str, data: bytes = b"") -> str:
    """The line and column where parsing failed and why; the first line of any other message, "" where it is empty."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    for placed in filter(None, map(_PLACED.fullmatch, lines)):
        at = "" if placed["line"] == _IN_BYTES else f"line {placed['line']}, column {placed['column']}: "
        return at + placed["why"]
    return _STATUS.sub("", lines[0]) if lines else ""
