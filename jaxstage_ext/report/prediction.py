"""What a predicted recording rests on: who estimated its times, for which devices, and how much of it is known."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Estimator(enum.Enum):
    """Who estimated the times of a predicted recording."""

    XLA = "XLA's latency-hiding scheduler"
    OWN = "JAXStage, from XLA's cycles of instructions and its own times of collectives"


class Means(enum.Enum):
    """By what an estimator knows how long an instruction takes."""

    TABLES = "tables of measured matmuls and collectives"
    ANALYTICAL = "a formula alone"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class PredictedLoop:
    """A loop, one iteration of which is drawn.

    Attributes:
      name: of its instruction in the HLO module.    count: its iterations; None where that is unknown.
      seconds: of one iteration, in which loops inside count as often as they run.
      start, end: where its iteration is drawn, in seconds since the call began, with one iteration of loops inside.
    """

    name: str
    count: int | None
    seconds: float
    start: float = 0.0
    end: float = 0.0


@dataclass(frozen=True)
class Prediction:
    """What a predicted recording rests on.

    Attributes:
      target: the devices that it is for: "h100:8".    seconds: of one call on one device; None where a part is unknown.
      matched: the share of the time, 0 to 1, whose instruction stands in the module that is shown.
      weighted: seconds that are no estimate but a bound of ours, since XLA gave only a weight for its order.
      exposed: seconds in which collectives run and nothing hides them, as the estimator itself sums them; None unknown.
      peak: bytes at the peak, as the scheduler believed; None where unknown.
      network: XLA's assumption on the network between hosts; "" where all devices are in one.
      unknown: names of instructions that have no time and are left out.
    """

    estimator: Estimator
    means: Means
    target: str
    seconds: float | None
    matched: float
    weighted: float = 0.0
    exposed: float | None = None
    peak: int | None = None
    network: str = ""
    loops: tuple[PredictedLoop, ...] = ()
    unknown: tuple[str, ...] = ()
