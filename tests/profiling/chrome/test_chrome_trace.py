"""Chrome traces with known answers, phase by phase."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.chrome import chrome_trace, unpacking
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import EventKind, LaneKind, Loss, Recording


def read(events: list[Any], **fields: Any) -> Recording:
    return chrome_trace.read(json.dumps({"traceEvents": events, **fields}).encode(), "t")


def span(name: str, ts: Any, dur: Any, ph: str = "X", **more: Any) -> dict[str, Any]:
    return {"ph": ph, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


def shown(recording: Recording) -> list[tuple[str, int, int]]:
    e = recording.events
    names = [recording.names[number] for number in e.name]
    return list(zip(names, e.start.tolist(), e.duration.tolist(), strict=True))


def lost(recording: Recording) -> dict[Loss, int | None]:
    return {entry.loss: entry.count for entry in recording.lost}


def test_times_are_exact_to_the_last_digit() -> None:
    text = b"""[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1712867402348256.123, "dur": 0.001},
                {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 1712867402348256.124, "dur": 50.445999999999998},
                {"ph": "X", "name": "c", "pid": 1, "tid": 1, "ts": 1.712867402348257e15, "dur": 3e-6}]"""
    recording = chrome_trace.read(text, "t")
    assert shown(recording) == [("a", 0, 1000), ("b", 1000, 50_446_000), ("c", 877_000, 3)]
    assert recording.origin == 1712867402348256123


def test_begins_and_ends() -> None:
    recording = read(
        [
            span("outer", 0, None, "B"),
            span("inner", 1, None, "B"),
            span("", 2, None, "E"),
            span("outer", 5, None, "E"),
            span("never closed", 6, None, "B"),
            span("last", 7, 3),
            span("never opened", 0, None, "E", tid=2),
        ]
    )
    assert shown(recording) == [
        ("outer", 0, 5_000_000),
        ("inner", 1_000_000, 1_000_000),
        ("never closed", 6_000_000, 4_000_000),
        ("last", 7_000_000, 3_000_000),
    ]
    assert lost(recording) == {Loss.UNMATCHED: 2}
    assert recording.total == 5


def test_asynchronous_events_have_a_lane_of_their_own() -> None:
    recording = read(
        [
            span("request", 0, None, "b", id="x", cat="net"),
            span("request", 1, None, "b", id="y", cat="net"),
            span("request", 4, None, "e", id="x", cat="net"),
            span("request", 5, None, "e", id="y", cat="net"),
            span("main", 0, 9),
        ]
    )
    lanes = {recording.lanes[lane].name for lane in recording.events.lane}
    assert lanes == {"net (asynchronous)", "thread 1"}
    assert sorted(recording.events.duration.tolist()) == [4_000_000, 4_000_000, 9_000_000]


@pytest.mark.parametrize("ts", [None, "12", float("nan"), 1e300, -1e300, 10**40, [], {}, True])
def test_a_time_that_is_none_is_lost(ts: Any) -> None:
    recording = read([span("good", 5, 1), span("good", 6, 1), span("bad", ts, 1)])
    assert shown(recording) == [("good", 0, 1_000_000), ("good", 1_000_000, 1_000_000)]
    assert lost(recording) == {Loss.UNREADABLE: 1}
    assert recording.total == 3


def test_negative_durations_are_shown_as_zero_and_counted() -> None:
    recording = read([span("a", 5, -3), span("b", 6, 1)])
    assert shown(recording) == [("a", 0, 0), ("b", 1_000_000, 1_000_000)]
    assert lost(recording) == {Loss.NEGATIVE: 1}


def test_counters() -> None:
    recording = read([span("power", ts, None, "C", args={"W": 100.5 + ts}) for ts in (3, 1)])
    (series,) = recording.counters
    assert (series.name, series.time.tolist(), series.value.tolist()) == (
        "power",
        [1_000_000, 3_000_000],
        [101.5, 103.5],
    )
    assert recording.lanes[series.lane].kind == LaneKind.COUNTER


def test_jax_on_a_gpu_has_no_categories() -> None:
    named = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:3"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Stream #13(Compute,MemcpyD2H)"}},
    ]
    args = {"hlo_op": "fusion.1", "hlo_module": "jit_f", "run_id": "7"}
    recording = read([*named, span("loop_fusion", 0, 1, args=args), span("MemcpyD2H", 1, 1)])
    assert [EventKind(kind) for kind in recording.events.kind] == [EventKind.KERNEL, EventKind.COPY]
    (lane,) = recording.lanes
    assert (lane.group, lane.name, lane.device) == ("GPU 3", "Stream #13 (Compute,MemcpyD2H)", 3)
    assert (recording.ops.name, recording.modules[0].name) == (("fusion.1",), "jit_f")
    assert recording.events.op.tolist() == [0, -1]


def test_an_open_list_is_what_a_stopped_recorder_leaves() -> None:
    text = json.dumps([span("a", 0, 1), span("b", 1, 1)])
    for cut in (text[:-1], text[:-1] + ",", text[:-1] + ",\n"):
        assert len(chrome_trace.read(cut.encode(), "t").events) == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b'{"traceEvents": [{"ph": "X"}, {"ph"', "ends in the middle"),
        (b'{"traceEvents": [{"ph": "X"},', "ends in the middle"),
        (b'{"traceEvents": [{"ph": "X"} {}]}', "damaged at character 29"),
        (b'{"other": 1}', "not a Chrome trace"),
        (b'{"traceEvents": [' + b"[" * 100_000, "nested too deep"),
        (gzip.compress(b"[{}]", mtime=0)[:-9], "cut off"),
        (gzip.compress(b"[{}]", mtime=0)[:10] + b"\xff" * 40, "gzip file is damaged"),
        (b"\x89PNG\r\n", "is not a profile"),
    ],
)
def test_what_cannot_be_read_says_so(data: bytes, said: str) -> None:
    with pytest.raises(UnreadableProfile, match=said):
        opening.open_profile(data, "t.json")


def test_a_gzip_bomb_ends_at_the_limit() -> None:
    bomb = gzip.compress(b"[" + b" " * 10**6)
    with pytest.raises(UnreadableProfile, match="more than 1 kB"):
        unpacking.unpacked(bomb, "bomb", 1000)


def test_the_newest_run_of_a_folder_with_its_hosts_apart(tmp_path: Path) -> None:
    for run, hosts in (("2026_01_01_00_00_00", ("old",)), ("2026_01_02_00_00_00", ("b", "a"))):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        for number, host in enumerate(hosts):
            trace = {"traceEvents": [span(f"on {host}", 1000 * number, 1)]}
            (folder / f"{host}.trace.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode()))
        (folder / "perfetto_trace.json.gz").write_bytes(b"the same events once more")
    recording = opening.open_profile(tmp_path).recording
    assert shown(recording) == [("on a", 0, 1_000_000), ("on b", 0, 1_000_000)]
    assert recording.hosts == ("a", "b")
    assert [recording.lanes[lane].host for lane in recording.events.lane] == [0, 1]


def test_a_folder_without_profiles(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UnreadableProfile, match="holds no profile"):
        opening.open_profile(tmp_path)
