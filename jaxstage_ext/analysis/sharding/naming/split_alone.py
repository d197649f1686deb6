"""What it takes to split one dimension alone over devices, and nothing else: the collectives that the program needs."""

from __future__ import annotations

from collections import Counter
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
    from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedModule

AXIS = "devices"
"""The only axis of the mesh."""
WITHOUT_TARGET = (8, 4, 2)
"""Devices to split over where the target has one: the first that divides the dimension."""


@dataclass(frozen=True)
class SplitCollective:
    """Collectives of a split that are alike.

    Attributes:
      count: how many the program has.
      kind: "all-reduce", as XLA names it.
      payload: bytes on each device in one run of one of them.
      sent: lower bound of the bytes that each device sends in all runs of all of them; None where `runs` is.
      runs: of one of them in one run of the program; None in a loop of unknown length.
      line: the source line, "" unknown.
    """

    count: int
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
    alike = Counter((one.kind.value, one.bytes, one.trips, one.line) for one in partitioned.collectives)
    found = [_collectives(*one, count, devices, reduces) for one, count in alike.items()]
    return SplitCost(devices, tuple(sorted(found, key=lambda one: -(one.sent or one.count * one.payload))))


def _collectives(
    kind: str, payload: int, runs: int | None, line: str, count: int, devices: int, reduces: bool
) -> SplitCollective:
    each = sent(kind, payload, devices, reduces)
    total = None if each is None or runs is None else each * runs * count
    return SplitCollective(count, kind, payload, total, runs, line)
