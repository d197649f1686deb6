"""How far the clock of one process is ahead of another's, as far as their profiles tell."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class NoSkew(enum.Enum):
    """Why profiles of several processes do not tell how their clocks differ."""

    NO_COLLECTIVE = "no collective"
    """A profile has no collective for which processes wait for each other."""
    GROUPS = "groups"
    """Their collectives exchange data within groups of devices, and which of these are of which process is unknown."""
    NOT_COMMON = "not common"
    """No collective of one run is in all profiles."""


@dataclass(frozen=True)
class ClockSkew:
    """The clock of a process beside that of process 0, by the collectives that both left together.

    Times are in picoseconds.

    Attributes:
      process: its index.
      ahead: how far its clock is ahead of that of process 0, with the starts that the profiles state; the median of the
        quarter of the collectives in which processes spent the least time together.
      uncertainty: half of these give a value this near, and these take no longer; of fewer than four collectives, all
        values that are possible.
      count: how many collectives there are.   kinds: what they are, such as "all-reduce", the most frequent first.
      drift: how much further ahead it is at the end of the profile than at its start; 0 where that is not certain.
      is_by_order: whether collectives were paired by their order, because the profiles do not tell which launch of a
        program is which.
    """

    process: int
    ahead: int
    uncertainty: int
    count: int
    kinds: tuple[str, ...]
    drift: int = 0
    is_by_order: bool = False
