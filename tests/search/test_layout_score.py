"""The estimate of a layout of one product in a loop, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp, PartitionValue
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind, PartitionedCollective, PartitionedModule
from jaxstage_ext.search.layout_result import LayoutEstimate
from jaxstage_ext.search.layout_score import LayoutScorer, ScoringDevice

WEIGHT = PartitionValue((8, 8), 32, False, "f32")
PEAK, BANDWIDTH, LINK = 1e12, 1e9, 1e9
PRODUCT_FLOPS, PRODUCT_MOVED, PAYLOAD, ARGUMENT, RESULT = 5e9, 1e6, 4_000, 2_000, 1_000


def estimate(trips: int | None, elementwise: float = 0.0, **known: Any) -> LayoutEstimate:
    """Of a program whose loop runs a product and an all-reduce over four devices `trips` times.

    `elementwise` is what an operation behind it moves.
    """
    loop = PartitionOp("stablehlo.while", (0,), (1,), None, "a.py:1", "", 1, None)
    product = PartitionOp("stablehlo.dot_general", (0, 0), (1,), None, "a.py:2", "", trips, PRODUCT_FLOPS, parent=0)
    last = PartitionOp("stablehlo.tanh", (1,), (1,), None, "a.py:3", "", 1, None)
    module = PartitionableModule("key", (WEIGHT, WEIGHT), (loop, product, last), (0,), (1,))
    exchanged = PartitionedCollective(CollectiveKind.ALL_REDUCE, ("x",), PAYLOAD, 1, trips, "a.py:2")
    partitioned = PartitionedModule(
        ModuleLayout({"x": 4}, (((), ()),), None),
        (((), ()),),
        np.zeros(2, np.int32),
        (exchanged,),
        ARGUMENT,
        RESULT,
        (((), ()),),
        np.array([0.0, PRODUCT_FLOPS, 0.0]),
        np.array([0.0, PRODUCT_MOVED, elementwise]),
    )
    figures = dict(title="made up", flops={"f32": PEAK, "tf32": PEAK}, vector={}, functions=(), cache=None) | {
        "bandwidth": BANDWIDTH, "cache_bandwidth": None, "measured": False,
    } | known  # fmt: skip
    device = ScoringDevice(SimpleNamespace(**figures), "cuda", "made up", lambda sizes: DeviceLinks(LINK, (), [0] * 4))
    return LayoutScorer(module, device).estimate(partitioned)


def test_a_loop_counts_with_its_trips() -> None:
    once, thrice = estimate(1), estimate(3)
    border = (ARGUMENT + RESULT) / BANDWIDTH
    assert once.memory == thrice.memory == pytest.approx(border)  # the product is bound by arithmetic
    assert thrice.compute == pytest.approx(3 * PRODUCT_FLOPS / PEAK)
    assert (once.exchanged_bytes, thrice.exchanged_bytes) == (PAYLOAD, 3 * PAYLOAD)
    assert thrice.collectives == pytest.approx(3 * 2 * 3 / 4 * PAYLOAD / LINK)  # a ring sends 2 (n - 1) / n of it
    assert thrice.least == pytest.approx(3 * PRODUCT_FLOPS / PEAK + border)
    assert thrice.most == pytest.approx(thrice.least + thrice.collectives)


def test_elementwise_work_counts_beyond_arguments_and_results_in_part() -> None:
    border = ARGUMENT + RESULT
    assert estimate(1, elementwise=border).memory == pytest.approx(border / BANDWIDTH)
    assert estimate(1, elementwise=11 * border).memory == pytest.approx((1 + 0.4 * 10) * border / BANDWIDTH)


def test_unknown_trips_leave_the_time_unknown() -> None:
    unknown = estimate(None)
    assert unknown.compute is None and unknown.collectives is None and unknown.least is None and unknown.most is None
    assert unknown.argument_bytes == ARGUMENT and "a.py:2" in " ".join(unknown.unknown)


def test_an_unknown_bandwidth_leaves_the_time_unknown() -> None:
    unknown = estimate(1, bandwidth=None)
    assert unknown.compute is None and unknown.memory is None and unknown.unknown
    assert unknown.cost > 0  # ordered all the same
