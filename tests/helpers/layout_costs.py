"""The time of one layout operation by operation: the oracle of `search.layout_score`, which has them as columns.

Roofline (Williams, Waterman and Patterson, CACM 52(4), 2009) of each operation at its local shapes: the larger of its
operations by the peak of its unit and its bytes by memory bandwidth. Collectives as `DeviceLinks.seconds` has them.
What is in a loop counts as often as the loop runs. These are lower bounds by published peaks, and an estimate: XLA
fuses, reshards and schedules as it likes, which a compile tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from jaxstage_ext.analysis.collectives.axis_groups import axis_groups
from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.analysis.cost.rules import arithmetic
from jaxstage_ext.analysis.cost.unit_peaks import Ceilings, rate
from jaxstage_ext.ir.hlo.dot_precision import DotPrecision, Level
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp
from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedCollective, PartitionedModule


class WorkDoubt(Enum):
    """Why a time is unknown."""

    PEAK = "how fast the device computes a dtype"
    BANDWIDTH = "the bandwidth of the device's memory"
    LINK = "the speed of the links"
    TRIPS = "how often a loop runs"


@dataclass(frozen=True)
class CollectiveTime:
    """One collective with the time of all its trips, None where that is unknown."""

    collective: PartitionedCollective
    devices: int
    seconds: float | None
    doubt: WorkDoubt | None = None
    reason: str = ""
    """Why the speed of the links is unknown."""


@dataclass(frozen=True)
class LayoutWork:
    """The time of one layout, in seconds; None where a part of it is unknown."""

    compute: float | None
    """Of all operations, one after another."""
    matmul: float | None
    """Of that, of the matrix products and convolutions."""
    collectives: tuple[CollectiveTime, ...]
    argument_bytes: int
    flops: float | None
    """Of matrix products and convolutions, of all trips."""
    doubts: frozenset[WorkDoubt]

    @property
    def communication(self) -> float | None:
        """Of all collectives, one after another."""
        return _total(each.seconds for each in self.collectives)

    @property
    def least(self) -> float | None:
        """Where collectives and computation overlap wholly."""
        return None if self.compute is None or self.communication is None else max(self.compute, self.communication)

    @property
    def most(self) -> float | None:
        """Where they do not overlap at all."""
        return None if self.compute is None or self.communication is None else self.compute + self.communication


class LayoutCosts:
    """Times layouts of one module on one device of a target, "cpu", "tpu" or "cuda"."""

    def __init__(self, module: PartitionableModule, platform: str, device: Ceilings | None) -> None:
        self._module, self._device = module, device
        self._rates = [self._rate(op, platform) if op.flops else None for op in module.ops]

    def work(self, partitioned: PartitionedModule, links: DeviceLinks) -> LayoutWork:
        """The time of a layout; `links` are of the devices in the order of its mesh."""
        doubts: set[WorkDoubt] = set()
        times = list(self._times(partitioned, doubts))
        sent = tuple(_collective(each, partitioned, links) for each in partitioned.collectives)
        doubts |= {each.doubt for each in sent if each.doubt is not None}
        matmul = (time for op, time in zip(self._module.ops, times, strict=True) if op.flops)
        return LayoutWork(_total(times), _total(matmul), sent, partitioned.argument_bytes, self._flops(partitioned),
                          frozenset(doubts))  # fmt: skip

    def _times(self, partitioned: PartitionedModule, doubts: set[WorkDoubt]) -> Iterator[float | None]:
        bandwidth = None if self._device is None else self._device.bandwidth
        for op, peak, flops, moved in zip(
            self._module.ops, self._rates, partitioned.flops.tolist(), partitioned.moved.tolist(), strict=True
        ):
            found = {
                WorkDoubt.TRIPS: op.trips is None and bool(flops or moved),
                WorkDoubt.PEAK: bool(flops) and not peak,
                WorkDoubt.BANDWIDTH: bool(moved) and not bandwidth,
            }
            if any(found.values()):
                doubts |= {doubt for doubt, is_so in found.items() if is_so}
                yield None
            else:
                yield (op.trips or 0) * max(flops / (peak or math.inf), moved / (bandwidth or math.inf))

    def _rate(self, op: PartitionOp, platform: str) -> float | None:
        """FLOP/s of a product at its peak; None where that is not known."""
        if self._device is None:
            return None
        dtype = self._module.values[op.operands[0]].dtype
        unit = arithmetic.product(dtype, DotPrecision(Level(op.precision)), platform)
        known = rate(unit, self._device, platform)
        return known.fast if known.is_known else None

    def _flops(self, partitioned: PartitionedModule) -> float | None:
        return _total(
            flops and (None if op.trips is None else op.trips * flops)
            for op, flops in zip(self._module.ops, partitioned.flops.tolist(), strict=True)
        )


def _collective(each: PartitionedCollective, partitioned: PartitionedModule, links: DeviceLinks) -> CollectiveTime:
    mesh = partitioned.layout.mesh
    devices = each.devices(mesh)
    if each.trips is None:
        return CollectiveTime(each, devices, None, WorkDoubt.TRIPS)
    once, reason = links.seconds(each.kind.value, each.bytes, axis_groups(mesh, each.axes))
    if once is None:
        return CollectiveTime(each, devices, None, WorkDoubt.LINK, reason)
    return CollectiveTime(each, devices, each.trips * once)


def _total(times: Iterable[float | None]) -> float | None:
    known = list(times)
    return None if None in known else sum(time for time in known if time is not None)
