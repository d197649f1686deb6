"""Damaged and hostile Chrome traces: each is an error message or a right answer, never a crash or a hang."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import NONE, EventKind, Recording
from tests.helpers.attack import Attack

GARBAGE: list[Any] = [
    None, "", "1.5", "x" * 5000, True, -1, -0.25, 0, 2**31, 2**53, 2**63, 10**30, 1e300, -1e300, float("nan"),
    float("inf"), [], {}, [[]], {"a": 1}, "\ud800", "\x00", "M", "B", "E", "jaxstage_lane", "\u202e",
]  # fmt: skip
FIELDS = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "bp")
CATEGORIES = (None, "kernel", "gpu_memcpy", "cuda_runtime", "cuda_sync", "python_function", "user_annotation", "cpu_op")


def trace(rng: random.Random) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {
            "ph": "M",
            "name": "process_name",
            "pid": 0,
            "tid": 0,
            "args": {"name": rng.choice(["/device:GPU:0", "GPU 0"])},
        },
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}},
    ]
    for _ in range(rng.randrange(30)):
        event = {
            "ph": rng.choice("XXXXBEiCsfben"),
            "name": rng.choice(["dot", "ncclDevKernel", "cudaLaunchKernel", "a.py(3): f", "$a.py:3 f", "end: dot"]),
            "pid": rng.choice([0, 5, "Spans"]),
            "tid": rng.randrange(3),
            "ts": rng.choice([rng.randrange(1000), rng.random() * 1e3, 1.7e15 + rng.randrange(1000)]),
            "dur": rng.choice([rng.randrange(50), rng.random() * 10]),
            "id": rng.randrange(3),
            "args": rng.choice(
                [{}, {"correlation": rng.randrange(4)}, {"hlo_op": "dot", "hlo_module": "m", "run_id": "3"}]
            ),
        }
        if (category := rng.choice(CATEGORIES)) is not None:
            event["cat"] = category
        events.append(event)
    return events


def mutated(rng: random.Random) -> bytes:
    events: list[Any] = list(trace(rng))
    for _ in range(rng.randrange(4)):
        event = rng.choice(events)
        if isinstance(event, dict):
            inner = event.get("args") if rng.random() < 0.3 and isinstance(event.get("args"), dict) else event
            inner[rng.choice([*FIELDS, *inner])] = rng.choice(GARBAGE)
    if rng.random() < 0.2:
        events.insert(rng.randrange(len(events)), rng.choice(GARBAGE))
    whole: Any = events if rng.random() < 0.3 else {"displayTimeUnit": "ns", "traceEvents": events}
    if isinstance(whole, dict) and rng.random() < 0.2:
        whole[rng.choice(["deviceProperties", "baseTimeNanoseconds", "traceEvents"])] = rng.choice(GARBAGE)
    data = bytearray(json.dumps(whole).encode())
    match rng.randrange(6):
        case 0:
            data = data[: rng.randrange(len(data) + 1)]
        case 1:
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case 2:
            at = rng.randrange(len(data))
            data[at:at] = rng.choice([b"{", b"[", b'"', b"}", b"]", b",", b"\\", b"[" * 100_000, b"9" * 5000])
    packed = bytes(data)
    if rng.random() < 0.3:
        packed = gzip.compress(packed, 1)
        if rng.random() < 0.5:
            packed = packed[: rng.randrange(len(packed))]
    return packed


def consistent(recording: Recording) -> None:
    """What any reader of a recording may rely on."""
    events = recording.events
    assert (events.duration >= 0).all() and (events.start >= 0).all() and (events.end >= events.start).all()
    order = np.lexsort((-events.duration, events.start, events.lane))
    assert (order == np.arange(len(events))).all()
    for column, size in ((events.lane, len(recording.lanes)), (events.name, len(recording.names))):
        assert ((column >= 0) & (column < size)).all()
    assert ((events.op >= NONE) & (events.op < len(recording.ops))).all()
    assert (events.kind < len(EventKind)).all()
    assert recording.total >= len(events)
    assert recording.total - len(events) <= sum(lost.count or 0 for lost in recording.lost)
    assert all(type(name) is str for name in recording.names)
    for number in range(min(3, len(events))):
        assert isinstance(recording.details(number), dict)
    for series in recording.counters:
        assert recording.lanes[series.lane].kind == "counter" and np.isfinite(series.value).all()


def test_mutated_traces(request: pytest.FixtureRequest) -> None:
    attack = Attack("mutated Chrome traces", attempts=10_000, in_ci=1_000, request=request)
    for rng in attack:
        try:
            recording = opening.open_recording(mutated(rng), "t.json")
        except UnreadableProfile as error:
            assert "\n" not in str(error) and len(str(error)) < 400
            attack.ended("refused")
        else:
            consistent(recording)
            attack.ended("read, some lost" if recording.lost else "read")


def plainly(events: list[dict[str, Any]]) -> list[tuple[str, float, float]]:
    """The complete and instant events, walked one by one."""
    spans = [(e["name"], float(e["ts"]), float(e["dur"]) if e["ph"] == "X" else 0.0) for e in events if e["ph"] in "Xi"]
    return sorted(spans)


def test_what_is_whole_is_right(request: pytest.FixtureRequest) -> None:
    attack = Attack("whole Chrome traces against a plain walk", attempts=2_000, in_ci=300, request=request)
    for rng in attack:
        events = [event for event in trace(rng) if event["ph"] in "MXi" and (event["ph"] == "M" or event["ts"] < 1e6)]
        recording = opening.open_recording(json.dumps({"traceEvents": events}).encode(), "t")
        columns, first = recording.events, min((e["ts"] for e in events if e["ph"] != "M"), default=0)
        names = [recording.names[number] for number in columns.name]
        times = ((columns.start / 1e6 + first).tolist(), (columns.duration / 1e6).tolist())
        found = sorted(zip(names, *times, strict=True))
        expected = plainly([event for event in events if event["ph"] != "M"])
        assert [name for name, *_ in found] == [name for name, *_ in expected]
        assert np.allclose([rest for _, *rest in found], [rest for _, *rest in expected], rtol=0, atol=2e-6)
        attack.ended("right")
