"""How much work a program does, as a range, where loops of unknown length, branches or unknown counts leave it open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class RangeCause(StrEnum):
    """Why the work of a program is a range."""

    UNKNOWN = "work that cannot be counted"
    LOOP = "a loop of unknown length"
    BRANCHES = "branches of different work"


class Branch(NamedTuple):
    """One branch of a conditional."""

    number: int
    """From 0, as `lax.switch` counts."""
    is_of_boolean: bool
    """Whether 0 and 1 are what runs for False and True."""
    line: str
    """The source line of its first instruction with one that the other branches do not have, "" unknown."""
    amount: float
    """Its work in one run, loops of unknown length counted once."""


class RangeReason(NamedTuple):
    """One instruction that leaves the work open."""

    cause: RangeCause
    instruction: str
    row: int
    """Of the module."""
    line: str
    """Its source line, "" unknown."""
    why: str = ""
    """Why its work is unknown, "" otherwise."""
    branches: tuple[Branch, ...] = ()
    """The branch of the least work and that of the most, where they differ; empty otherwise."""


@dataclass(frozen=True)
class WorkRange:
    """FLOPs or bytes of one run of a program."""

    least: float
    """What is known to be done: the branch of least work of each conditional, no iteration of a loop of unknown length,
    what is unknown left out."""
    counted: float
    """The one figure to compare by: as `least`, but the branch of most work of each conditional, as XLA counts."""
    most: float | None
    """The most that can be done; None where that is not known. `least`, `counted` and `most` are equal where the work
    is known. A loop of unknown length counts once in `counted`."""
    reasons: tuple[RangeReason, ...] = ()
    """Why it is a range; empty where it is one figure."""

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of it: what was counted is nothing, and more may be done."""
        return self.most is None and not self.counted

    @property
    def is_exact(self) -> bool:
        """Whether the work is one known figure."""
        return self.most is not None and self.most == self.least
