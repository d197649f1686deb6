"""What it takes to split one dimension alone over devices, and nothing else: the collectives that the program needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxstage_ext.analysis.collectives.interconnect import sent
from jaxstage_ext.analysis.sharding.naming import naming_wording as wording
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec, ModuleLayout

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.naming.dimension_group import Member
    from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension
    from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule
    from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedCollective, PartitionedModule

AXIS = "devices"
"""The only axis of the mesh."""
WITHOUT_TARGET = (8, 4, 2)
"""Devices to split over where the target has one: the first that divides the dimension."""


@dataclass(frozen=True)
class SplitCollective:
    """One collective of a split, as often as it runs.

    Attributes:
      kind: "all-reduce", as XLA names it.
      payload: bytes on each device in one run.
      sent: lower bound of the bytes that each device sends in all runs; None where it is unknown how often it runs.
      runs: in one run of the program; None in a loop of unknown length.
      line: the source line, "" unknown.
    """

    kind: str
    payload: int
    sent: float | None
    runs: int | None
    line: str


@dataclass(frozen=True)
class SplitCost:
    """What splitting a dimension alone over so many devices costs; `why` says why it is unknown, "" where it is not."""

    devices: int
    collectives: tuple[SplitCollective, ...] = ()
    why: str = ""

    @property
    def sent(self) -> float | None:
        """Lower bound of the bytes that each device sends in one run of the program."""
        parts = [one.sent for one in self.collectives]
        return None if self.why or None in parts else float(sum(part for part in parts if part is not None))

    @property
    def why_unknown(self) -> str:
        """Why the bytes are unknown; "" where they are not."""
        return self.why or ("" if self.sent is not None else wording.UNKNOWN_LOOP)


def devices_for(size: int, devices: int) -> int:
    """Over how many devices to split a dimension: all of the target's, else 8, 4 or 2; 0 where it divides none."""
    if devices > 1:
        return devices
    return next((count for count in WITHOUT_TARGET if size % count == 0), 0)


def layout(dimension: NamedDimension, module: PartitionableModule, devices: int) -> ModuleLayout:
    """The dimension split over so many devices wherever arguments and results have it; all else replicated."""
    arguments, results = (
        tuple(_spec(at, len(module.values[value].shape), members) for at, value in enumerate(values))
        for values, members in (
            (module.arguments, dimension.arguments),
            (module.results, dimension.results),
        )
    )
    return ModuleLayout({AXIS: devices}, arguments, results)


def _spec(number: int, rank: int, members: Sequence[Member]) -> AxisSpec:
    """An array's spec; of a dimension that it has twice the first axis is split."""
    split = min((axis for at, axis in members if at == number), default=-1)
    return tuple((AXIS,) if axis == split else () for axis in range(rank))


def cost(partitioned: PartitionedModule, reduces: bool = False) -> SplitCost:
    """The collectives of a layout, what sends most first; `reduces` is whether switches reduce, as in NVLink SHARP."""
    devices = partitioned.layout.devices
    found = [_collective(one, devices, reduces) for one in partitioned.collectives]
    return SplitCost(devices, tuple(sorted(found, key=lambda one: -(one.sent or one.payload))))


def _collective(one: PartitionedCollective, devices: int, reduces: bool) -> SplitCollective:
    each = sent(one.kind.value, one.bytes, devices, reduces)
    total = None if each is None or one.trips is None else each * one.trips
    return SplitCollective(one.kind.value, one.bytes, total, one.trips, one.line)
