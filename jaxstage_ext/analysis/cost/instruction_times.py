"""What each ceiling takes of an instruction's time at least and at most, and which of them may bound it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.ceilings import Ceiling, Doubt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

COMPUTE, MEMORY, INTERCONNECT, UNKNOWN = Ceiling


@dataclass(frozen=True, eq=False)
class InstructionTimes:
    """Seconds per instruction and run."""

    compute: Floats
    """At least. `peak_open` and `function_open` may come on top, and any time where `flops_open`."""
    peak_open: Floats
    function_open: Floats
    flops_open: Bools
    memory: Floats
    """By the bandwidth of the device's memory, NaN unknown."""
    links: Floats
    """Of its collectives, at least; any time where `links_open`."""
    links_open: Bools
    on_chip: Floats
    """What its bytes in memory on the chip can take at most."""
    hidden: Floats
    """Of the time of its collectives or of its asynchronous copy, what other work hides."""
    host_open: Bools
    """Whether it moves bytes to or from the host's memory, which may take any time."""

    def without(self, doubts: Collection[Doubt]) -> InstructionTimes:
        """The times with these doubts resolved in favour of the least time."""
        nothing, no = np.zeros_like(self.compute), np.zeros_like(self.flops_open)
        return replace(
            self,
            peak_open=nothing if Doubt.PEAK in doubts else self.peak_open,
            function_open=nothing if Doubt.FUNCTION in doubts else self.function_open,
            flops_open=no if Doubt.FLOPS in doubts else self.flops_open,
            links_open=no if Doubt.LINK in doubts else self.links_open,
            on_chip=nothing if Doubt.ON_CHIP in doubts else self.on_chip,
            host_open=no if Doubt.HOST in doubts else self.host_open,
        )

    @property
    def most_compute(self) -> Floats:
        return np.where(self.flops_open, np.inf, self.compute + self.peak_open + self.function_open)

    @property
    def most_elsewhere(self) -> Floats:
        """What its bytes in memory on the chip, or the host's, can take at most."""
        return np.where(self.host_open, np.inf, self.on_chip)

    @property
    def least(self) -> Floats:
        """The lower bound of each instruction; NaN where nothing is known of it."""
        known = np.fmax(np.fmax(self.compute, self.memory), self.links)
        nothing = np.isnan(self.memory) & ((self.most_compute > self.compute) | (self.compute == 0)) & (known == 0)
        return np.where(nothing | (self.links_open & (known == 0)), np.nan, known)

    def may_bound(self) -> dict[Ceiling, Bools]:
        """Per ceiling, whether it may be what bounds each instruction; UNKNOWN is memory on the chip, or the host's."""
        memory = np.nan_to_num(self.memory, nan=np.inf)
        least_memory, most_links = np.nan_to_num(self.memory), np.where(self.links_open, np.inf, self.links)
        compute, links = self.compute, self.links
        return {
            COMPUTE: self.most_compute > np.maximum(least_memory, links),
            MEMORY: (memory >= compute) & (memory >= links),
            INTERCONNECT: most_links > np.maximum(compute, least_memory),
            UNKNOWN: self.most_elsewhere > np.maximum(np.maximum(compute, least_memory), links),
        }

    def bounds(self) -> list[Ceiling]:
        """The ceiling of each instruction; UNKNOWN where more than one may be."""
        may = self.may_bound()
        number = np.select([may[COMPUTE], may[MEMORY], may[INTERCONNECT]], [0, 1, 2], 3)
        number[(np.sum(list(may.values()), axis=0) != 1) | np.isnan(self.memory)] = 3
        return list(np.array(list(Ceiling), object)[number])

    def known_bounds(self) -> list[Ceiling]:
        """The ceiling that gives each instruction's lower bound, whatever may exceed it."""
        resolved = self.without(tuple(Doubt))
        return replace(resolved, memory=np.nan_to_num(self.memory)).bounds()

    def at_least(self) -> dict[Ceiling, Floats]:
        """Per ceiling, the time for which it certainly bounds each instruction."""
        may, seconds = self.may_bound(), np.nan_to_num(self.least - self.hidden)
        others = {key: np.any([may[other] for other in may if other is not key], axis=0) for key in may}
        known = {COMPUTE: self.compute, MEMORY: np.nan_to_num(self.memory), INTERCONNECT: self.links}
        return {
            key: np.where(may[key] & ~others[key], np.minimum(seconds, known[key]), 0.0)
            if key in known
            else 0 * seconds
            for key in may
        }

    def at_most(self) -> dict[Ceiling, Floats]:
        """Per ceiling, the time for which it may bound each instruction."""
        is_exchange = self.links_open | (self.links > 0)
        most = {
            COMPUTE: self.most_compute,
            MEMORY: np.nan_to_num(self.memory, nan=np.inf) - np.where(is_exchange, 0.0, self.hidden),
            INTERCONNECT: np.where(self.links_open, np.inf, self.links - np.where(is_exchange, self.hidden, 0.0)),
            UNKNOWN: self.most_elsewhere,
        }
        return {key: np.where(may, most[key], 0.0) for key, may in self.may_bound().items()}
