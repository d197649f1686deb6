"""Reads Chrome and Perfetto JSON traces: those of JAX, PyTorch (Kineto), Mosaic GPU and other tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from jaxstage_ext.profiling import unreadable as most_events
from jaxstage_ext.profiling.chrome.chrome_columns import Longs, RawEvents, raw_events
from jaxstage_ext.profiling.chrome.chrome_counters import counters_of
from jaxstage_ext.profiling.chrome.chrome_lanes import SpanLanes, chrome_lanes
from jaxstage_ext.profiling.chrome.chrome_own import OwnTrace, own_trace
from jaxstage_ext.profiling.chrome.chrome_processes import device_facts, processes_of
from jaxstage_ext.profiling.chrome.chrome_spans import Spans, spans_of
from jaxstage_ext.profiling.chrome.chrome_text import TraceText
from jaxstage_ext.profiling.chrome.unpacking import unpacked
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import (
    DEVICE_WORK,
    NONE,
    EventKind,
    Events,
    HostLine,
    Loss,
    Lost,
    Ops,
    RecordedModule,
    Recording,
)

_PYTHON_NAME = re.compile(r"\$?(?P<file>[^$(][^(]{0,4000})\((?P<line>\d{1,9})\): (?P<function>.+)")
_JAX_NAME = re.compile(r"\$(?P<file>[^:]{1,4000}):(?P<line>\d{1,9}) (?P<function>.+)")
_PHASE = b'"ph"'
"""What each event has, and hardly anything else."""
_UNIX_TIME = 10**15
"""Microseconds: a clock beyond September 2001 counts from 1970."""


def read(data: bytes, title: str) -> Recording:
    """The recording of a Chrome trace, plain or gzip.

    Raises UnreadableProfile where it is not one, is cut off or damaged, or is larger than memory allows.
    """
    if not data:
        raise UnreadableProfile(f"{title} is empty")
    whole = unpacked(data, title)
    most_events.check_event_count(whole.count(_PHASE), title)
    text = TraceText(whole.decode("utf-8-sig", "replace"), title)
    del whole
    raw = raw_events(text)
    spans = spans_of(raw)
    if (own := own_trace(raw)) is not None:
        recording = _recording(text, raw, spans, own.lanes_of(raw, spans))
        return _as_written(recording, own, raw)
    processes = processes_of(raw)
    recording = _recording(text, raw, spans, chrome_lanes(raw, spans, processes))
    counters, lanes, unreadable = counters_of(raw, spans.base, processes, len(recording.lanes))
    lost = {**spans.lost, Loss.UNREADABLE: spans.lost[Loss.UNREADABLE] + unreadable}
    return replace(
        recording,
        lanes=recording.lanes + lanes,
        counters=counters,
        lost=tuple(Lost(loss, count) for loss, count in lost.items() if count),
        device_facts=device_facts(raw.head, processes),
    )


def _as_written(recording: Recording, own: OwnTrace, raw: RawEvents) -> Recording:
    """A recording that JAXStage wrote, with what it wrote beside the events."""
    return replace(
        recording,
        title=own.title or recording.title,
        hosts=own.hosts,
        origin=own.origin,
        lost=own.lost + recording.lost,
        total=max(own.total, recording.total),
        device_facts=own.device_facts,
        prediction=own.prediction,
        counters=own.counters(raw),
    )


def _recording(text: TraceText, raw: RawEvents, spans: Spans, lanes: SpanLanes) -> Recording:
    order = np.lexsort((-spans.duration, spans.start, lanes.lane))
    row = spans.row[order]
    modules = sorted({module for module, _ in (*raw.ops, *raw.runs) if module})
    numbers = {module: number for number, module in enumerate(modules)}
    runs = _runs_as_written(raw) if raw.is_own else _runs(raw.run[row], spans.start[order])
    events = Events(
        start=spans.start[order],
        duration=spans.duration[order],
        lane=lanes.lane[order].astype(np.int32),
        name=raw.name[row].astype(np.int32),
        kind=lanes.kind[order] if raw.is_own else _launches(lanes.kind[order], raw.correlation[row]),
        op=raw.op[row].astype(np.int32),
        device=lanes.device[order].astype(np.int32),
        run=runs[raw.run[row]] if raw.is_own else runs,
        correlation=raw.correlation[row],
    )
    python = np.unique(events.name[events.kind == EventKind.PYTHON])
    details = _Details(text, raw.offset[row])
    return Recording(
        title=text.title,
        format="chrome",
        lanes=lanes.lanes,
        names=tuple(raw.names),
        events=events,
        ops=Ops(np.array([numbers.get(m, NONE) for m, _ in raw.ops], np.int32), tuple(op for _, op in raw.ops)),
        modules=tuple(RecordedModule(name) for name in modules),
        lost=tuple(Lost(loss, count) for loss, count in spans.lost.items() if count),
        origin=_origin(raw, spans),
        total=len(row) + spans.left_out,
        details=details,
        host_lines=_lines_as_written(details, events) if raw.is_own else _host_lines(raw.names, python),
    )


def _lines_as_written(details: _Details, events: Events) -> dict[int, HostLine]:
    python = np.flatnonzero(events.kind == EventKind.PYTHON)
    names, first = np.unique(events.name[python], return_index=True)
    lines = {}
    for name, event in zip(names.tolist(), python[first].tolist(), strict=True):
        match details(event):
            case {"file": str(file), "line": int(line), "function": str(function)}:
                lines[name] = HostLine(file, line, function)
    return lines


def _runs_as_written(raw: RawEvents) -> np.ndarray[Any, Any]:
    return np.array([*(int(run) for _, run in raw.runs), NONE], np.int32)


class _Details:
    """The fields of an event, read from the text when they are asked for."""

    def __init__(self, text: TraceText, offsets: Longs) -> None:
        self._text, self._offsets = text, offsets

    def __call__(self, event: int) -> Mapping[str, Any]:
        fields = self._text.event(int(self._offsets[event]))
        args = fields.get("args")
        return {**(args if type(args) is dict else {}), **({"category": fields["cat"]} if "cat" in fields else {})}


def _launches(kind: np.ndarray[Any, Any], correlation: Longs) -> np.ndarray[Any, Any]:
    """The kinds, where calls of the runtime that work on a device goes back to are launches."""
    started = np.unique(correlation[np.isin(kind, DEVICE_WORK)])
    starts = (kind == EventKind.HOST) & (correlation != 0) & np.isin(correlation, started)
    return np.where(starts, np.uint8(EventKind.LAUNCH), kind).astype(np.uint8)


def _runs(run: Longs, start: Longs) -> np.ndarray[Any, Any]:
    """The executions numbered by their first start."""
    numbers, which = np.unique(run, return_inverse=True)
    first = np.full(len(numbers), np.iinfo(np.int64).max)
    np.minimum.at(first, which, start)
    first[numbers == NONE] = np.iinfo(np.int64).min
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    return (rank - (1 if NONE in numbers else 0))[which].astype(np.int32)


def _origin(raw: RawEvents, spans: Spans) -> int | None:
    base = raw.head.get("baseTimeNanoseconds")
    own = spans.base.whole * 1000 + spans.base.part // 1000
    if type(base) is int and 0 < base < 2**62:
        return base + own
    return own if spans.base.whole > _UNIX_TIME else None


def _host_lines(names: list[str], python: np.ndarray[Any, Any]) -> dict[int, HostLine]:
    lines = {}
    for number in python.tolist():
        if match := _JAX_NAME.fullmatch(names[number]) or _PYTHON_NAME.fullmatch(names[number]):
            lines[number] = HostLine(match["file"], int(match["line"]), match["function"])
    return lines
