"""The ceilings of a roofline, and what can be said of the program under them."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import NamedTuple


class Ceiling(StrEnum):
    """What limits the speed of an instruction or a program."""

    COMPUTE = "compute"
    MEMORY = "memory"
    INTERCONNECT = "interconnect"
    UNKNOWN = "unknown"


class Outcome(Enum):
    """Whether it is known what bounds a program, and why not."""

    BOUND = "one ceiling takes most of the time, whatever is unknown"
    NO_WORK = "nothing is computed or moved"
    NO_LINK_SPEED = "the time of a collective is unknown"
    NO_PEAKS = "the peaks of the device are unknown"
    UNKNOWN_WORK = "something unknown may take longer than what is known"


UNDECIDED = frozenset({Outcome.NO_LINK_SPEED, Outcome.NO_PEAKS, Outcome.UNKNOWN_WORK})
"""Outcomes that leave it unknown what bounds the program."""


class Doubt(Enum):
    """What is unknown of an instruction's time."""

    FLOPS = "how much it computes"
    PEAK = "how fast the device computes its dtype"
    FUNCTION = "how long a transcendental function takes"
    LINK = "how long a collective takes"
    ON_CHIP = "the bandwidth of memory on the chip"
    HOST = "how fast values move to and from the host's memory"
    LOOP = "how often a loop runs"
    BRANCH = "which branch of a conditional runs"


class DoubtReason(NamedTuple):
    """A doubt that could overturn the verdict."""

    doubt: Doubt
    what: tuple[str, ...]
    """What is unknown: reasons for FLOPS and LINK, units for PEAK, opcodes for FUNCTION; empty for the others."""
    line: str
    """The source line of the instruction that it concerns most, "" unknown."""
    instructions: int
    """How many instructions it concerns."""


class BoundCondition(NamedTuple):
    """What bounds a program as long as what is unknown takes no more than a time."""

    ceiling: Ceiling
    seconds: float
    """Of all instructions that the doubts concern, together. Below it nothing unknown overturns the verdict, whichever
    of them it falls on; above it something may."""


class BoundDecision(NamedTuple):
    """What bounds a program."""

    ceiling: Ceiling
    """UNKNOWN where that is not decided."""
    seconds: float
    """The lower bound of the program's time."""
    shares: dict[Ceiling, float]
    """Of that time, what the instructions that each ceiling bounds take."""
    known: dict[Ceiling, float]
    """Of that time, what each ceiling gives, be it exceeded or not by what is unknown."""
    doubts: tuple[Doubt, ...] = ()
    """What is unknown and could overturn it; empty where it is decided."""
    condition: BoundCondition | None = None
    """On what it is decided; None where it is decided, or where no time alone would decide it."""
