"""What is said of on-device profiles."""

from __future__ import annotations

from dataclasses import replace

from mosaic_buffers import TrueRange, TrueTrace, written

from jaxstage_ext.profiling.mosaic import mosaic_wording
from jaxstage_ext.profiling.mosaic.mosaic_kernels import KernelClock
from jaxstage_ext.profiling.mosaic.mosaic_recording import decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec

WORDS = written([TrueTrace(100, 4, (TrueRange(1, 1_000, 3_000, (TrueRange(0, 1_100, 1_400),)),))], 16)
SPEC = MosaicSpec(16, ("load", "mma"), (1,), (128,), kernel="scale")


def test_the_clock_and_the_cost_of_recording_are_stated() -> None:
    clock, cost = mosaic_wording.notes(decode(WORDS, SPEC, sm_clock=1.98e9))
    assert clock == "The ranges of scale count cycles, turned into time by an SM clock of 1.98 GHz."
    assert cost.endswith("11 cycles for each entry and exit, which is subtracted: at most 33 cycles in one warpgroup.")
    assert "are in cycles, because nobody gave the clock" in mosaic_wording.notes(decode(WORDS, SPEC))[0]


def test_each_way_of_placing_is_said() -> None:
    made = decode(WORDS, SPEC, sm_clock=1e9)
    for clock in KernelClock:
        facts = {"Mosaic GPU scale": {**made.device_facts["Mosaic GPU"], "clock": clock}}
        assert len(mosaic_wording.notes(replace(made, device_facts=facts))) == 3
