"""The process for which the others wait the most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LatestProcess:
    """The process for which the others wait the most.

    Attributes:
      times: how many collectives it is the last to begin.   count: of so many.
      seconds: from the first process that began these to it, in all.
      op: the instruction of which these are most; `line` is its source line, "" unknown.
      typical: the median of its seconds there.
    """

    process: int
    times: int
    count: int
    seconds: float
    op: str
    line: str
    typical: float
