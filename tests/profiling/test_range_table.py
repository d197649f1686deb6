"""Time by named range, and what is said of on-device profiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from mosaic_buffers import TrueRange, TrueTrace, written
from recordings import MICROSECOND, Event, recording

from jaxstage_ext.profiling import mosaic_wording
from jaxstage_ext.profiling.mosaic_kernels import KernelClock
from jaxstage_ext.profiling.mosaic_recording import decode
from jaxstage_ext.profiling.mosaic_spec import MosaicSpec
from jaxstage_ext.profiling.range_table import by_range
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind

WORDS = written(
    [
        TrueTrace(100, 4, (TrueRange(1, 1_000, 3_000, (TrueRange(0, 1_100, 1_400), TrueRange(0, 2_000, 2_100))),)),
        TrueTrace(100, 4, (TrueRange(1, 1_000, 2_000),)),
    ],
    16,
)
SPEC = MosaicSpec(16, ("load", "mma"), (1,), (256,), kernel="scale")


def test_ranges_by_name_with_what_is_theirs_alone() -> None:
    table = by_range(decode(WORDS, SPEC, sm_clock=1e9, overhead=0))
    assert list(table["range"]) == ["mma", "load"] and list(table["where"]) == ["device", "device"]
    assert list(table["count"]) == [2, 2] and list(table["lanes"]) == [2, 1]
    assert np.allclose(table["total"], [3e-6, 0.4e-6]) and np.allclose(table["self"], [2.6e-6, 0.4e-6])


def test_without_a_clock_they_are_cycles() -> None:
    table = by_range(decode(WORDS, SPEC, overhead=0))
    assert list(table["self"]) == [2_600, 400] and table.columns["self"].unit == "cycles"


def test_ranges_of_the_host_are_apart() -> None:
    host = EventLane("host", "python", LaneKind.HOST)
    made = recording([Event("python", "mma", 1, 2, EventKind.RANGE, device=NONE)], [host])
    table = by_range(made)
    assert list(table["where"]) == ["host"] and table["self"][0] * 1e12 == 2 * MICROSECOND


def test_no_ranges() -> None:
    assert len(by_range(recording([]))) == 0


def test_the_clock_and_the_cost_of_recording_are_stated() -> None:
    clock, cost = mosaic_wording.notes(decode(WORDS, SPEC, sm_clock=1.98e9))
    assert clock == "The ranges of scale count cycles, turned into time by an SM clock of 1.98 GHz."
    assert cost.endswith("11 cycles for each entry and exit, which is subtracted: at most 55 cycles in one warpgroup.")
    in_cycles = decode(WORDS, SPEC)
    assert "are in cycles, because nobody gave the clock" in mosaic_wording.notes(in_cycles)[0]


def test_each_way_of_placing_is_said() -> None:
    made = decode(WORDS, SPEC, sm_clock=1e9)
    for clock in KernelClock:
        facts = {"Mosaic GPU scale": {**made.device_facts["Mosaic GPU"], "clock": clock}}
        assert len(mosaic_wording.notes(replace(made, device_facts=facts))) == 3
