"""Ops of a TPU, whose plane names the module on a line of its own, and each instruction by its whole text."""

from __future__ import annotations

import jax
import numpy as np

from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import EventKind, LaneKind, Loss

_PLANE = """
planes {
  name: "/device:TPU:2"
  lines { id: 1 name: "Steps" timestamp_ns: 100 events { metadata_id: 5 offset_ps: 0 duration_ps: 9000000 } }
  lines {
    id: 2 name: "XLA Modules" timestamp_ns: 100
    events { metadata_id: 1 offset_ps: 0 duration_ps: 4000000 stats { metadata_id: 1 int64_value: 70 } }
    events { metadata_id: 2 offset_ps: 5000000 duration_ps: 4000000 stats { metadata_id: 1 int64_value: 71 } }
  }
  lines {
    id: 3 name: "XLA Ops" timestamp_ns: 100
    events { metadata_id: 3 offset_ps: 0 duration_ps: 1000000 }
    events { metadata_id: 4 offset_ps: 1000000 duration_ps: 2000000 }
    events { metadata_id: 3 offset_ps: 5000000 duration_ps: -5 }
    events { metadata_id: 3 offset_ps: 4500000 duration_ps: 1000 }
    events { metadata_id: 77 offset_ps: 6000000 duration_ps: 1000 }
  }
  lines { id: 4 name: "XLA TraceMe" timestamp_ns: 100 events { metadata_id: 6 offset_ps: 0 duration_ps: 10 } }
  event_metadata { key: 1 value { id: 1 name: "jit_step(12)" } }
  event_metadata { key: 2 value { id: 2 name: "jit_init(13)" } }
  event_metadata { key: 3 value { id: 3 name: "%fusion.3 = f32[8] fusion(%p)" display_name: "fusion.3" } }
  event_metadata {
    key: 4 value { id: 4 name: "%all-reduce.1 = f32[8] all-reduce(%p)" stats { metadata_id: 2 int64_value: 99 } }
  }
  event_metadata { key: 5 value { id: 5 name: "0" } }
  event_metadata { key: 6 value { id: 6 name: "barrier" } }
  stat_metadata { key: 1 value { id: 1 name: "run_id" } }
  stat_metadata { key: 2 value { id: 2 name: "program_id" } }
}
warnings: "17 events were dropped"
"""


def test_a_plane_of_a_tpu() -> None:
    recording = xplane.read(jax.profiler.ProfileData.text_proto_to_serialized_xspace(_PLANE), "tpu")
    kinds = [(lane.group, lane.kind, lane.device, lane.hidden) for lane in recording.lanes]
    assert kinds == [
        ("TPU 2", LaneKind.STEPS, 2, False),
        ("TPU 2", LaneKind.MODULES, 2, False),
        ("TPU 2", LaneKind.OPS, 2, False),
        ("TPU 2", LaneKind.HOST, 2, True),
    ]
    events, ops = recording.events, recording.ops
    rows = np.flatnonzero(events.lane == 2).tolist()
    named = [(recording.modules[ops.module[op]].name, ops.name[op]) for op in events.op[rows].tolist()]
    programs = [recording.modules[ops.module[op]].program for op in events.op[rows].tolist()]
    assert named[:2] == [("jit_step", "fusion.3"), ("jit_step", "all-reduce.1")]
    assert named[2] == ("", "fusion.3"), "between two modules"
    assert named[3] == ("jit_init", "fusion.3")
    assert programs == ["12", "99", "", "13", "13"]
    assert events.run[rows].tolist() == [0, 0, -1, 1, 1]
    assert events.duration[rows].tolist() == [1_000_000, 2_000_000, 1_000, 0, 1_000]
    assert events.kind[rows].tolist() == [EventKind.OP, EventKind.COLLECTIVE, *[EventKind.OP] * 3]
    assert {EventKind(kind) for kind in events.kind[events.lane < 2].tolist()} == {EventKind.STEP, EventKind.MODULE}


def test_what_is_wrong_in_it_is_counted() -> None:
    recording = xplane.read(jax.profiler.ProfileData.text_proto_to_serialized_xspace(_PLANE), "tpu")
    assert {(lost.loss, lost.count, lost.where) for lost in recording.lost} == {
        (Loss.DROPPED, None, "17 events were dropped"),
        (Loss.NEGATIVE, 1, "/device:TPU:2 XLA Ops"),
        (Loss.UNKNOWN_NAME, 1, "/device:TPU:2 XLA Ops"),
    }
    assert recording.total == len(recording.events) == 9
