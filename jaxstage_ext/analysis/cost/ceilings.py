"""The ceilings of a roofline, and what can be said of the program under them."""

from __future__ import annotations

from enum import Enum, StrEnum


class Ceiling(StrEnum):
    """What limits the speed of an instruction or a program."""

    COMPUTE = "compute"
    MEMORY = "memory"
    INTERCONNECT = "interconnect"
    UNKNOWN = "unknown"


class Outcome(Enum):
    """Whether it is known what bounds a program, and why not."""

    BOUND = "one ceiling takes most of the lower bound"
    NO_WORK = "nothing is computed or moved"
    NO_LINK_SPEED = "the time of a collective is unknown"
    NO_PEAKS = "the peaks of the device are unknown"
    UNKNOWN_WORK = "most of the lower bound goes to instructions of unknown FLOPs"


UNDECIDED = frozenset({Outcome.NO_LINK_SPEED, Outcome.NO_PEAKS, Outcome.UNKNOWN_WORK})
"""Outcomes that leave it unknown what bounds the program."""
