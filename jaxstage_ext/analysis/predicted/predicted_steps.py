"""The steps of a predicted call: what each instruction takes, in the order in which they run, and by whom."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class EstimateSource(enum.Enum):
    """By whom the time of a step is."""

    XLA = "XLA's estimate"
    CYCLES = "XLA's estimated cycles"
    BOUND = "a lower bound of JAXStage's"
    UNKNOWN = "unknown"


class Role(enum.Enum):
    """What a step does."""

    WORK = "work"
    """It occupies the device until it ends."""
    BEGIN = "begin"
    """It begins work that runs beside what follows."""
    END = "end"
    """It waits until that work ends."""
    LOOP = "loop"
    """It runs other steps, once or several times."""


class Stream(enum.Enum):
    """Where the work of a step runs."""

    COMPUTE = "compute"
    COPY = "copy"
    COLLECTIVE = "collective"
    BESIDE = "beside"
    """Computation that runs beside the main stream's."""


@dataclass(frozen=True)
class CallStep:
    """One instruction, or one run of a computation.

    Attributes:
      row: of the module that is shown; -1 where it is not in it.    name: in that module, else XLA's own.
      cost: microseconds of the main stream, of a loop those of its own instruction; unknown ones are 0.
      begun: of an END, the place of its BEGIN among the same steps.
      latency: of an END, microseconds from the end of its BEGIN to its own end at least.
      memory: bytes in use when it begins; None where unknown.
      body: of a LOOP, the steps of one iteration.    count: how often they run; None where that is unknown.
      branches: of a LOOP that is a conditional, how many it has: the longest is its body.
      at_most: of an END whose latency XLA's schedule does not tell, since other work hid all of it there, the most that
        it can be; None where it tells. `latency` is a bound of ours then.
    """

    row: int
    name: str
    role: Role = Role.WORK
    stream: Stream = Stream.COMPUTE
    cost: float = 0.0
    by: EstimateSource = EstimateSource.XLA
    begun: int = -1
    latency: float = 0.0
    memory: int | None = None
    body: tuple[CallStep, ...] = field(default=(), repr=False)
    count: int | None = 1
    at_most: float | None = None
    branches: int = 0
