"""The line that makes most of a predicted call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CallLine:
    """Seconds of a line's computation and exposed collectives in one call."""

    line: str
    seconds: float
