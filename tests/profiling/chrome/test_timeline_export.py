"""What a timeline is written as reads back as the same events, and is what the formats ask for."""

from __future__ import annotations

import gzip
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.profiling.chrome import chrome_trace
from jaxstage_ext.profiling.op_links import places
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import EventKind, EventLane, Events, LaneKind, Loss, Lost, Recording
from tests.helpers.profiles import trace_bytes
from tests.helpers.recordings import Event, recording

REAL = (
    "amd_mi300x_jax08_conv.xplane.pb",
    "nvidia_v100_tf.xplane.pb",
    "nvidia_h100_torch_bert_small.trace.json.gz",
    "cuda_event_sync_multi_stream.trace.json.gz",
)
STREAM = EventLane("GPU 0 (H100)", "Stream #13 (compute)", LaneKind.COMPUTE, 0)
THREAD = EventLane("host", "python", LaneKind.PYTHON)


def made() -> Recording:
    launch, step = EventKind.LAUNCH, EventKind.STEP
    return recording(
        [
            Event("python", "cuLaunchKernel", 1.000001, 0.5, launch, device=-1, run=-1, correlation=7),
            Event("python", "outer", 0, 9, step, device=-1, run=-1),
            Event(
                "Stream #13 (compute)",
                'fusion "x" <b>',
                2,
                3.000003,
                EventKind.KERNEL,
                ("jit_f", "fusion"),
                correlation=7,
            ),
            Event("Stream #13 (compute)", "overlaps", 4, 5, EventKind.KERNEL, ("jit_g", "dot"), run=1),
            Event("Stream #13 (compute)", "mark", 4, 0, EventKind.RANGE, run=-1),
        ],
        [STREAM, THREAD],
        [Lost(Loss.DROPPED, 3, "host")],
        total=8,
        origin=1_700_000_000_000_000_123,
    )


def real(name: str) -> Recording:
    data = trace_bytes(name)
    return xplane.read(data, name) if name.endswith(".pb") else chrome_trace.read(data, name)


def plain(of: Recording) -> list[tuple[Any, ...]]:
    """The events with names in place of indices."""
    e = of.events
    ops = [(of.modules[m].name if m >= 0 else "", name) for m, name in zip(of.ops.module, of.ops.name, strict=True)]
    shown = {
        "lane": [of.lanes[n] for n in e.lane],
        "name": [of.names[n] for n in e.name],
        "op": [ops[n] if n >= 0 else None for n in e.op],
    }
    columns = [shown.get(column.name, getattr(e, column.name).tolist()) for column in fields(Events)]
    return list(zip(*columns, strict=True))


def written(of: Recording, folder: Path, name: str = "t.json") -> Recording:
    path = folder / name
    Timeline(of, places(of)).to_chrome(path)
    return chrome_trace.read(path.read_bytes(), "read back")


def test_a_chrome_trace_reads_back_as_the_same_recording(tmp_path: Path) -> None:
    before = made()
    after = written(before, tmp_path)
    assert plain(after) == plain(before)
    assert (after.lanes, after.title, after.origin, after.lost) == (
        before.lanes,
        before.title,
        before.origin,
        before.lost,
    )
    assert after.total == 8


@pytest.mark.parametrize("name", REAL)
def test_real_profiles_read_back_as_the_same_events(name: str, tmp_path: Path) -> None:
    before = real(name)
    after = written(before, tmp_path, "t.json.gz")
    assert plain(after) == plain(before)
    assert after.lanes == before.lanes
    assert dict(after.device_facts) == json.loads(json.dumps(before.device_facts, default=str))
    for one, other in zip(after.counters, before.counters, strict=True):
        assert (one.lane, one.name, one.unit) == (other.lane, other.name, other.unit)
        assert np.array_equal(one.time, other.time) and np.array_equal(one.value, other.value)


def test_a_chrome_trace_is_what_the_format_asks_for(tmp_path: Path) -> None:
    written(made(), tmp_path)
    trace = json.loads((tmp_path / "t.json").read_text())
    assert set(trace) == {"displayTimeUnit", "traceEvents"}
    events = trace["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "s", "f"}
    spans = [event for event in events if event["ph"] == "X"]
    assert all(type(event[key]) is int for event in events for key in ("pid", "tid"))
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in spans} <= named
    assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {"GPU 0 (H100)", "host"}
    start, finish = (next(e for e in events if e["ph"] == phase) for phase in "sf")
    assert (start["id"], start["ts"], finish["ts"], finish["bp"]) == (7, 1.000001, 2, "e")
    assert start["id"] == finish["id"]


def test_events_of_one_thread_nest(tmp_path: Path) -> None:
    written(made(), tmp_path)
    by_thread: dict[Any, list[tuple[float, float]]] = {}
    for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]:
        if event["ph"] == "X":
            by_thread.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    assert any(len(spans) > 1 for spans in by_thread.values())
    for spans in by_thread.values():
        for start, end in spans:
            assert not any(start < other < end < far for other, far in spans)


@pytest.mark.parametrize("name", ["", *REAL])
def test_speedscope(name: str, tmp_path: Path) -> None:
    of = real(name) if name else made()
    Timeline(of, without_places(of)).to_speedscope(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text())
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = file["shared"]["frames"]
    assert all(set(frame) <= {"name", "file", "line", "col"} and type(frame["name"]) is str for frame in frames)
    opened = 0
    for profile in file["profiles"]:
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds"
        assert profile["startValue"] <= profile["events"][0]["at"]
        assert profile["events"][-1]["at"] <= profile["endValue"]
        stack, now = [], profile["startValue"]
        for event in profile["events"]:
            assert event["at"] >= now
            now = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack
        opened += sum(event["type"] == "O" for event in profile["events"])
    assert opened == len(of.events)


def test_pandas() -> None:
    pytest.importorskip("pandas")
    frame = Timeline(made(), without_places(made())).to_pandas()
    assert list(frame["start (s)"]) == [2e-6, 4e-6, 4e-6, 0, 1.000001e-6]
    assert list(frame["op"])[:2] == ["fusion", "dot"]
    assert frame["correlation"].isna().tolist() == [False, True, True, True, False]
    assert frame["group"].tolist() == ["GPU 0 (H100)"] * 3 + ["host"] * 2


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    timeline = Timeline(made(), without_places(made()))
    with pytest.raises(OSError, match="missing"):
        timeline.to_chrome(tmp_path / "missing" / "t.json")
    timeline.to_chrome(tmp_path / "t.json.gz")
    assert json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))
    assert [path.name for path in tmp_path.iterdir()] == ["t.json.gz"]
