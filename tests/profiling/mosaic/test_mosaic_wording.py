"""What is said of on-device profiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from mosaic_buffers import TrueRange, TrueTrace, written

from jaxstage_ext.profiling.mosaic import mosaic_wording
from jaxstage_ext.profiling.mosaic.mosaic_kernels import KernelClock
from jaxstage_ext.profiling.mosaic.mosaic_recording import decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.unavailable import Unavailable

WORDS = written([TrueTrace(100, 4, (TrueRange(1, 1_000, 3_000, (TrueRange(0, 1_100, 1_400),)),))], 16)
SPEC = MosaicSpec(16, ("load", "mma"), (1,), (128,), kernel="scale")


def test_the_clock_and_the_cost_of_recording_are_stated() -> None:
    clock, cost = mosaic_wording.notes(decode(WORDS, SPEC, sm_clock=1.98e9))
    assert " scale " in clock and "1.98 GHz" in clock
    assert all(figure in cost for figure in ("11 cycles", "33 cycles", "warpgroup"))
    unknown = mosaic_wording.notes(decode(WORDS, SPEC))[0]
    assert "GHz" not in unknown and "sm_clock=" in unknown


def test_each_way_of_placing_is_said() -> None:
    made = decode(WORDS, SPEC, sm_clock=1e9)
    for clock in KernelClock:
        facts = {"Mosaic GPU scale": {**made.device_facts["Mosaic GPU"], "clock": clock}}
        assert len(mosaic_wording.notes(replace(made, device_facts=facts))) == 3


def test_cycles_are_never_written_as_time(tmp_path: Path) -> None:
    in_cycles, in_time = (Timeline.from_mosaic(WORDS, SPEC, clock) for clock in (None, 1.98e9))
    writers: list[Callable[[Timeline], object]] = [
        lambda timeline: timeline.to_chrome(tmp_path / "c.json"),
        lambda timeline: timeline.to_speedscope(tmp_path / "s.json"),
        lambda timeline: timeline.to_table(),
        lambda timeline: timeline.to_pandas(),
        lambda timeline: timeline.between(0, 1),
    ]
    for write in writers:
        with pytest.raises(Unavailable, match=r"in cycles .* Timeline.from_mosaic\(buffer, spec, sm_clock=1.98e9\)"):
            write(in_cycles)
    assert not list(tmp_path.iterdir())
    in_time.to_chrome(tmp_path / "c.json")
    assert len(in_time.to_table()) == 2
