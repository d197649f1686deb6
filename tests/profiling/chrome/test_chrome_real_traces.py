"""Real traces, counted by an independent walk over their JSON."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.profiling.chrome import chrome_trace
from jaxstage_ext.report.recording import EventKind, LaneKind, Recording
from tests.helpers.profiles import trace_bytes
from tests.helpers.real_traces import JSON_TRACES, json_events

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


@functools.cache
def recording(name: str) -> Recording:
    return chrome_trace.read(trace_bytes(f"{name}.trace.json.gz"), name)


def picoseconds(value: Any) -> int:
    """Of microseconds as JSON wrote them: the shortest decimal of a float is its digits, up to 17."""
    return int(Decimal(repr(value)).scaleb(6).to_integral_value())


def shown(name: str) -> list[dict[str, Any]]:
    return [event for event in json_events(name) if event.get("ph") in ("X", "i")]


@pytest.mark.parametrize("name", JSON_TRACES)
def test_every_event_is_there_with_its_exact_time(name: str) -> None:
    read, events = recording(name), shown(name)
    first = min(picoseconds(event["ts"]) for event in events)
    expected = Counter(
        (str(event["name"]), picoseconds(event["ts"]) - first, picoseconds(event.get("dur", 0))) for event in events
    )
    columns = read.events
    names = [read.names[number] for number in columns.name.tolist()]
    assert Counter(zip(names, columns.start.tolist(), columns.duration.tolist(), strict=True)) == expected
    assert read.total == len(events)
    assert read.lost == ()


@pytest.mark.parametrize("name", JSON_TRACES)
def test_time_of_each_stream(name: str) -> None:
    expected: dict[tuple[int, int], int] = defaultdict(int)
    for event in shown(name):
        if event.get("cat") in DEVICE:
            expected[event["args"]["device"], event["args"]["stream"]] += picoseconds(event["dur"])
    read = recording(name)
    kinds = (LaneKind.COMPUTE, LaneKind.COPY, LaneKind.COLLECTIVE)
    streams = {number: lane for number, lane in enumerate(read.lanes) if lane.kind in kinds}
    found = {
        (lane.device, int(lane.name.split()[1])): int(read.events.duration[read.events.lane == number].sum())
        for number, lane in streams.items()
    }
    assert found == expected


@pytest.mark.parametrize("name", JSON_TRACES)
def test_events_by_category(name: str) -> None:
    categories = Counter(event.get("cat") for event in shown(name))
    kinds = Counter(EventKind(kind) for kind in recording(name).events.kind.tolist())
    assert kinds[EventKind.KERNEL] + kinds[EventKind.COLLECTIVE] == categories["kernel"]
    assert kinds[EventKind.COPY] == categories["gpu_memcpy"] + categories["gpu_memset"]
    assert kinds[EventKind.PYTHON] == categories["python_function"]
    ranges = ("user_annotation", "gpu_user_annotation", "cuda_profiler_range")
    assert kinds[EventKind.RANGE] + kinds[EventKind.STEP] == sum(categories[name] for name in ranges)


@pytest.mark.parametrize("name", JSON_TRACES)
def test_every_device_event_has_the_launch_that_the_trace_gives_it(name: str) -> None:
    events = shown(name)
    started = {e["args"]["correlation"] for e in events if e.get("cat") in DEVICE}
    calls = [e["args"]["correlation"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")]
    read = recording(name).events
    launches = read.correlation[read.kind == EventKind.LAUNCH]
    assert set(launches.tolist()) & started == started & set(calls)


def test_nccl_kernels() -> None:
    read = recording("nvidia_v100_torch_nccl_216k")
    collective = read.events.kind == EventKind.COLLECTIVE
    assert int(collective.sum()) == 2020
    (lane,) = set(read.events.lane[collective].tolist())
    assert read.lanes[lane].kind == LaneKind.COLLECTIVE
    assert read.lanes[lane].name == "Stream 14"
    assert read.lanes[lane].group == "GPU 1 (Tesla V100-SXM2-32GB)"


def test_the_time_of_day_is_that_of_the_trace() -> None:
    read = recording("nvidia_h100_torch_bert_small")
    assert read.origin == 1751410836000000000 + 1419247332500_684


def test_python_functions_stand_for_lines() -> None:
    read = recording("nvidia_h100_torch_bert_small")
    lines = {(line.file, line.line, line.function) for line in read.host_lines.values()}
    assert ("threading.py", 1032, "_bootstrap") in lines


def test_details_are_the_fields_of_that_event() -> None:
    read, name = recording("nvidia_h100_torch_bert_small"), "nvidia_h100_torch_bert_small"
    kernels = [event for event in shown(name) if event.get("cat") == "kernel"]
    numbers = np.flatnonzero(np.isin(read.events.kind, (EventKind.KERNEL, EventKind.COLLECTIVE))).tolist()
    found = sorted((read.details(number)["correlation"], read.details(number)["grid"]) for number in numbers)
    assert found == sorted((event["args"]["correlation"], event["args"]["grid"]) for event in kernels)


def test_the_allocator_is_a_counter() -> None:
    read = recording("nvidia_v100_torch_nccl_216k")
    instants = [e for e in json_events("nvidia_v100_torch_nccl_216k") if e["name"] == "[memory]"]
    on_device = [e["args"]["Total Allocated"] for e in instants if e["args"]["Device Type"] == 1]
    (series,) = (c for c in read.counters if c.name == "memory allocated" and "GPU" in read.lanes[c.lane].group)
    assert (len(series.value), series.value.max(), series.unit) == (len(on_device), max(on_device), "B")
