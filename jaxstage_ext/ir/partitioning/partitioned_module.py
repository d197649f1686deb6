"""What a layout makes of a module: collectives, and what one device computes, reads and writes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec, ModuleLayout
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule


class CollectiveKind(Enum):
    """As XLA names it."""

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"
    PERMUTE = "collective-permute"


@dataclass(frozen=True)
class PartitionedCollective:
    """One collective, once for each of its trips."""

    kind: CollectiveKind
    axes: tuple[str, ...]
    """The mesh axes over which it goes; "x:(2)4" is a part of an axis."""
    bytes: int
    """The payload of `analysis.collectives.interconnect.sent`: on one device what goes in, of an all-gather what comes
    out."""
    op: int
    """The operation whose partial sums it adds, or whose operand it moves; -1 where an argument is a result."""
    trips: int | None
    """None where a loop's trips are unknown."""
    line: str

    def devices(self, mesh: Mapping[str, int]) -> int:
        """How many devices exchange."""
        return math.prod(axis_size(axis, mesh) for axis in self.axes)


def axis_size(name: str, mesh: Mapping[str, int]) -> int:
    """The devices along an axis, or along a part of one."""
    _, mark, part = name.rpartition(":(")
    return mesh[name] if name in mesh or not mark else int(part.partition(")")[2])


@dataclass(frozen=True, eq=False)
class PartitionedModule:
    """One layout of a module."""

    layout: ModuleLayout
    table: tuple[AxisSpec, ...]
    codes: Any
    """Per value its place in `table`, int32."""
    collectives: tuple[PartitionedCollective, ...]
    argument_bytes: int
    """On one device, exactly."""
    result_bytes: int
    """On one device, exactly."""
    results: tuple[AxisSpec, ...]
    """How each result is split."""
    flops: Any
    """Per operation on one device, float64: of matrix products and convolutions; 0 of others."""
    moved: Any
    """Per operation the bytes that one device reads and writes, float64; neighbouring element-wise operations are taken
    for one kernel."""

    def spec(self, value: int) -> AxisSpec:
        """How a value is split, by its number."""
        return self.table[self.codes[value]]


def partitioned_of(module: PartitionableModule, layout: ModuleLayout, answer: Mapping[str, Any]) -> PartitionedModule:
    """The partitioned module of a worker's answer."""
    table = tuple(answer["table"])
    codes = np.frombuffer(answer["specs"], np.int32)
    return PartitionedModule(
        layout,
        table,
        codes,
        tuple(_collective(module, sent) for sent in answer["collectives"]),
        _bytes(module, module.arguments, [table[codes[value]] for value in module.arguments], layout.mesh),
        _bytes(module, module.results, [table[code] for code in answer["results"]], layout.mesh),
        tuple(table[code] for code in answer["results"]),
        np.frombuffer(answer["flops"], np.float64),
        np.frombuffer(answer["bytes"], np.float64),
    )


def _collective(module: PartitionableModule, sent: tuple[Any, ...]) -> PartitionedCollective:
    kind, axes, size, op, trips = sent
    return PartitionedCollective(CollectiveKind(kind), axes, size, op, trips, module.ops[op].line if op >= 0 else "")


def _bytes(
    module: PartitionableModule,
    values: Sequence[int],
    specs: Sequence[AxisSpec],
    mesh: Mapping[str, int],
) -> int:
    return sum(local_bytes(module, value, spec, mesh) for value, spec in zip(values, specs, strict=True))


def local_bytes(module: PartitionableModule, value: int, spec: AxisSpec, mesh: Mapping[str, int]) -> int:
    """Bytes of a value on one device, where it is split so."""
    kept = module.values[value]
    count = 1
    for at, size in enumerate(kept.shape):
        parts = math.prod(axis_size(name, mesh) for name in (spec[at] if at < len(spec) else ()))
        count *= -(-size // parts)
    return (count * kept.bits + 7) // 8
