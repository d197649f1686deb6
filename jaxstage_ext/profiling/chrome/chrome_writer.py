"""Writes a timeline as a Chrome trace, which Perfetto (https://ui.perfetto.dev) and chrome://tracing open.

A device or host is a process, a lane a thread. What the format has no field for stands in metadata events that other
tools pass over, so that `chrome_trace.read` gives the same recording.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.chrome.chrome_names import LANE, RECORDING
from jaxstage_ext.profiling.chrome.decimal_times import PICOSECONDS
from jaxstage_ext.profiling.chrome.side_by_side import layers
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.predictions import written_prediction
from jaxstage_ext.report.recording import DEVICE_WORK, NONE, EventKind, Recording

_FLOW = "launch"
_PIECE = 4096
"""Events written at once."""


def write(recording: Recording, places: OpPlaces, path: str | os.PathLike[str]) -> None:
    """Write a trace; compressed where the name ends in ".gz". Raises OSError where it cannot be written."""
    target = Path(path).expanduser()
    partial = target.with_name(f"{target.name}.part")
    opened = gzip.open if target.name.endswith(".gz") else open
    try:
        with opened(partial, "wt", encoding="utf-8") as file:
            file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
            lines = _lines(recording, places)
            file.write(next(lines))
            while piece := list(islice(lines, _PIECE)):
                file.write(",\n" + ",\n".join(piece))
            file.write("\n]}\n")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _lines(recording: Recording, places: OpPlaces) -> Iterator[str]:
    layer = layers(recording.events)
    threads = _Threads(recording, layer)
    yield from threads.metadata()
    yield from _events(recording, places, threads)
    yield from _flows(recording, threads)
    yield from _counters(recording, threads)


class _Threads:
    """Numbers of processes and threads: a thread for each layer of each lane."""

    def __init__(self, recording: Recording, layer: np.ndarray[Any, Any]) -> None:
        self.recording = recording
        groups = dict.fromkeys((lane.host, lane.group) for lane in recording.lanes)
        self.processes = {group: number for number, group in enumerate(groups, start=1)}
        self.pids = [self.processes[lane.host, lane.group] for lane in recording.lanes]
        lane = recording.events.lane.astype(np.int64)
        deepest = np.zeros(len(recording.lanes), np.int64)
        np.maximum.at(deepest, lane, layer)
        self.first = np.concatenate([[1], 1 + np.cumsum(deepest + 1)])
        self.thread = self.first[lane] + layer

    def metadata(self) -> Iterator[str]:
        """The names, the order, and what the format has no field for."""
        about = {
            "title": self.recording.title,
            "origin": self.recording.origin,
            "hosts": list(self.recording.hosts),
            "total": self.recording.total,
            "device_facts": {group: dict(facts) for group, facts in self.recording.device_facts.items()},
            "lost": [[lost.loss.name, lost.count, lost.where] for lost in self.recording.lost],
        }
        prediction = self.recording.prediction
        if prediction is not None:
            about["prediction"] = written_prediction.written(prediction)
        sort = "predicted: " if prediction is not None else ""
        yield _metadata(RECORDING, 0, 0, about)
        for (host, group), pid in self.processes.items():
            machine = self.recording.hosts[host] if len(self.recording.hosts) > 1 else ""
            yield _metadata(
                "process_name", pid, 0, {"name": f"{sort}{machine}: {group}" if machine else f"{sort}{group}"}
            )
            yield _metadata("process_sort_index", pid, 0, {"sort_index": pid})
        for number, lane in enumerate(self.recording.lanes):
            for tid in range(int(self.first[number]), int(self.first[number + 1])):
                layer = tid - int(self.first[number])
                name = f"{lane.name} ({layer + 1})" if layer else lane.name
                yield _metadata("thread_name", self.pids[number], tid, {"name": name})
                yield _metadata("thread_sort_index", self.pids[number], tid, {"sort_index": tid})
                yield _metadata(LANE, self.pids[number], tid, {"number": number, **asdict(lane)})


def _metadata(name: str, pid: int, tid: int, args: dict[str, Any]) -> str:
    return json.dumps({"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args}, default=str)


def _events(recording: Recording, places: OpPlaces, threads: _Threads) -> Iterator[str]:
    events = recording.events
    names = [json.dumps(name) for name in recording.names]
    kinds = {kind.value: kind.name.lower() for kind in EventKind}
    host_lines = {number: json.dumps(asdict(line))[1:-1] for number, line in recording.host_lines.items()}
    ops = _op_arguments(recording, places)
    columns = (events.start, events.duration, threads.thread, events.lane, events.name, events.kind)
    more = (events.op, events.device, events.run, events.correlation)
    rows = zip(*(column.tolist() for column in (*columns, *more)), strict=True)
    for start, duration, thread, lane, name, kind, op, device, run, correlation in rows:
        args = [ops[op]] if op != NONE else []
        if kind == EventKind.PYTHON and name in host_lines:
            args.append(host_lines[name])
        for key, value, absent in (
            ("device_ordinal", device, NONE),
            ("run", run, NONE),
            ("correlation", correlation, 0),
        ):
            if value != absent:
                args.append(f'"{key}": {value}')
        yield (
            f'{{"ph": "X", "name": {names[name]}, "cat": "{kinds[kind]}", "pid": {threads.pids[lane]}, '
            f'"tid": {thread}, "ts": {microseconds(start)}, "dur": {microseconds(duration)}, '
            f'"args": {{{", ".join(args)}}}}}'
        )


def microseconds(picoseconds: int) -> str:
    """Picoseconds as microseconds, every digit kept."""
    whole, part = divmod(picoseconds, PICOSECONDS)
    return f"{whole}.{part:06d}".rstrip("0") if part else str(whole)


def _op_arguments(recording: Recording, places: OpPlaces) -> list[str]:
    """For each op its instruction, module and source line."""
    codes, labels = line_labels(places)
    written = []
    for op, name in enumerate(recording.ops.name):
        module = int(recording.ops.module[op])
        fields: dict[str, Any] = {"hlo_op": name, "hlo_module": recording.modules[module].name if module >= 0 else ""}
        if op < len(codes) and codes[op] != NONE:
            fields["source"] = labels[codes[op]]
        if op < len(places.category) and places.category[op] != NONE:
            fields["category"] = places.categories[places.category[op]]
        if op < len(places.scope) and places.scope[op] != NONE:
            fields["scope"] = places.scopes[places.scope[op]]
        written.append(json.dumps(fields)[1:-1])
    return written


def _flows(recording: Recording, threads: _Threads) -> Iterator[str]:
    """An arrow from each launch to the first work that it started."""
    events = recording.events
    launches = _first_by_correlation(recording, np.isin(events.kind, (EventKind.LAUNCH, EventKind.HOST)))
    for correlation, work in _first_by_correlation(recording, np.isin(events.kind, DEVICE_WORK)).items():
        launch = launches.get(correlation)
        if launch is None or events.start[work] < events.start[launch]:
            continue
        for phase, event, more in (("s", launch, ""), ("f", work, ', "bp": "e"')):
            yield (
                f'{{"ph": "{phase}", "id": {correlation}, "name": "{_FLOW}", "cat": "{_FLOW}", '
                f'"pid": {threads.pids[events.lane[event]]}, "tid": {threads.thread[event]}, '
                f'"ts": {microseconds(int(events.start[event]))}{more}}}'
            )


def _first_by_correlation(recording: Recording, chosen: np.ndarray[Any, Any]) -> dict[int, int]:
    events = recording.events
    rows = np.flatnonzero(chosen & (events.correlation != 0))
    rows = rows[np.argsort(events.start[rows], kind="stable")]
    numbers, first = np.unique(events.correlation[rows], return_index=True)
    return dict(zip(numbers.tolist(), rows[first].tolist(), strict=True))


def _counters(recording: Recording, threads: _Threads) -> Iterator[str]:
    for series in recording.counters:
        pid, tid, name = threads.pids[series.lane], int(threads.first[series.lane]), json.dumps(series.name)
        unit = json.dumps(series.unit or "value")
        for time, value in zip(series.time.tolist(), series.value.tolist(), strict=True):
            if np.isfinite(value):
                at = f'"ts": {microseconds(time)}, "args": {{{unit}: {value!r}}}'
                yield f'{{"ph": "C", "name": {name}, "pid": {pid}, "tid": {tid}, {at}}}'
