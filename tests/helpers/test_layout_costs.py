"""The time of a layout by hand: peaks, bytes and links that are round numbers, and what is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from layout_costs import LayoutCosts, LayoutWork, WorkDoubt

from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp, PartitionValue
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind, PartitionedCollective, PartitionedModule


@dataclass(frozen=True)
class Device:
    title: str = "made up"
    flops: Any = field(default_factory=lambda: {"bf16": 1e12})
    vector: Any = field(default_factory=dict)
    bandwidth: float | None = 1e9
    functions: tuple[Any, ...] = ()
    cache: int | None = None
    cache_bandwidth: float | None = None
    measured: bool = False


VALUE = PartitionValue((8, 8), 16, False, "bf16")
DOT = PartitionOp("stablehlo.dot_general", (0, 0), (1,), None, "a.py:1", "", 1, 4e9)
ADD = PartitionOp("stablehlo.add", (0, 0), (1,), None, "a.py:2", "", 3, None)
REDUCE = PartitionedCollective(CollectiveKind.ALL_REDUCE, ("x",), 8_000_000, 0, 3, "a.py:1")
LINKS = DeviceLinks(bandwidth=1e9, hosts=(0, 0, 0, 0))


def work(
    ops: tuple[PartitionOp, ...] = (DOT, ADD), device: Device | None = Device(),
    links: DeviceLinks = LINKS, collective: PartitionedCollective = REDUCE,
) -> LayoutWork:  # fmt: skip
    module = PartitionableModule("", (VALUE, VALUE), ops, (0,), (1,))
    layout = ModuleLayout({"x": 4}, (None,))
    partitioned = PartitionedModule(
        layout, (), np.zeros(2, np.int32), (collective,), 64, 64, (), np.array([1e9, 0.0]), np.array([2e3, 5e6])
    )
    return LayoutCosts(module, "tpu", device).work(partitioned, links)


def test_times_by_hand() -> None:
    found = work()
    assert found.matmul == pytest.approx(1e9 / 1e12)
    assert found.compute == pytest.approx(1e9 / 1e12 + 3 * 5e6 / 1e9)
    assert found.communication == pytest.approx(3 * 2 * 3 / 4 * 8e6 / 1e9)
    assert (found.least, found.most) == (pytest.approx(0.036), pytest.approx(0.036 + 0.016))
    assert (found.flops, found.doubts) == (1e9, frozenset())


@pytest.mark.parametrize(
    ("given", "doubt", "known"),
    [
        ({"device": None}, WorkDoubt.PEAK, "communication"),
        ({"device": Device(flops={})}, WorkDoubt.PEAK, "communication"),
        ({"device": Device(bandwidth=None)}, WorkDoubt.BANDWIDTH, "communication"),
        ({"links": DeviceLinks(source="no link speed")}, WorkDoubt.LINK, "compute"),
        ({"ops": (DOT, replace(ADD, trips=None))}, WorkDoubt.TRIPS, "communication"),
        ({"collective": replace(REDUCE, trips=None)}, WorkDoubt.TRIPS, "compute"),
    ],
)
def test_what_is_unknown_is_never_nothing(given: Any, doubt: WorkDoubt, known: str) -> None:
    found = work(**given)
    assert doubt in found.doubts
    assert (found.least, found.most) == (None, None)
    assert getattr(found, known) is not None
