"""The files that JAX writes of on-device profiles: what they are is recognised, and what is wrong with them said."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from mosaic_buffers import TrueRange, TrueTrace, written

from jaxstage_ext.profiling.mosaic.mosaic_saved import saved
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.profiling.opening import open_profile
from jaxstage_ext.report.recording import EventKind, LaneKind, Loss


def dumped() -> str:
    profiler = pytest.importorskip("jax.experimental.mosaic.gpu.profiler")
    spec, file = profiler.ProfilerSpec(16), io.StringIO()
    for name in ("load", "mma"):
        spec.intern_name(name)
    traces = [
        TrueTrace(1_000, 4, (TrueRange(0, 100, 900, (TrueRange(1, 200, 400),)),)),
        TrueTrace(1_000, 4, (TrueRange(1, 200, 400),)),
    ]
    spec.dump(written(traces, 16), file, (1, 1, 1), (256, 1, 1))
    return file.getvalue()


def test_cycles_that_are_written_as_nanoseconds_are_said_to_be() -> None:
    made = open_profile(dumped().encode(), "scale-17-trace.json").recording
    assert [(lost.loss, lost.count) for lost in made.lost] == [(Loss.CYCLES_AS_TIME, 3)]
    assert [(lane.group, lane.name, lane.kind) for lane in made.lanes] == [
        ("SM 4", "trace 0", LaneKind.ON_DEVICE),
        ("SM 4", "trace 1", LaneKind.ON_DEVICE),
    ]
    assert set(made.events.kind.tolist()) == {EventKind.RANGE}


@pytest.mark.parametrize(
    "change",
    [
        lambda trace: trace.update(displayTimeUnit="ms"),
        lambda trace: trace["traceEvents"][0].update(cat="cpu"),
        lambda trace: trace["traceEvents"].append({"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}),
        lambda trace: trace["traceEvents"].clear(),
    ],
    ids=["unit", "category", "complete event", "empty"],
)
def test_other_traces_are_not_taken_for_one(change: Any) -> None:
    trace = json.loads(dumped())
    change(trace)
    made = open_profile(json.dumps(trace).encode(), "x").recording
    assert Loss.CYCLES_AS_TIME not in [lost.loss for lost in made.lost]


def test_a_saved_buffer_opens_as_any_profile(tmp_path: Any) -> None:
    spec = MosaicSpec(16, ("load",), (1,), (128,), kernel="scale")
    file = tmp_path / "scale.npz"
    file.write_bytes(saved(written([TrueTrace(0, 1, (TrueRange(0, 10, 50),))], 16), spec, 1e9))
    timeline = open_profile(file)
    assert timeline.recording.format == "mosaic" and len(timeline.events) == 1
