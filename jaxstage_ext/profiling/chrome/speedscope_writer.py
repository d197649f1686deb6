"""Writes a timeline for speedscope (https://www.speedscope.app): one profile for each lane.

The format: https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.line_labels import counted_frames
from jaxstage_ext.profiling.chrome.side_by_side import layers
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.recording import NANOSECOND, NONE, EventKind, Events, Recording

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
Json = dict[str, Any]
Numbers = npt.NDArray[np.int64]


def write(recording: Recording, places: OpPlaces, path: str | os.PathLike[str]) -> None:
    """Write a speedscope file, times in nanoseconds. Raises OSError where it cannot be written."""
    frames = _FrameNumbers(recording, places)
    profiles = list(_profiles(recording, frames))
    data = {
        "$schema": SCHEMA,
        "name": f"{recording.title}, predicted" if recording.prediction is not None else recording.title,
        "activeProfileIndex": 0,
        "exporter": "jaxstage",
        "shared": {"frames": frames.written},
        "profiles": profiles,
    }
    Path(path).expanduser().write_text(json.dumps(data), encoding="utf-8")


@dataclass
class _FrameNumbers:
    """The frames of the file: one for each name and source line."""

    recording: Recording
    places: OpPlaces
    written: list[Json] = field(default_factory=list)
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.line_of_op = counted_frames(self.places).tolist()

    def number(self, name: int, op: int, kind: int) -> int:
        """The frame of an event."""
        line = self.line_of_op[op] if 0 <= op < len(self.line_of_op) else NONE
        key = (name, -2 if kind == EventKind.PYTHON else line)
        if key not in self.numbers:
            self.numbers[key] = len(self.written)
            self.written.append({"name": self.recording.names[name] or "(no name)", **self._place(name, *key)})
        return self.numbers[key]

    def _place(self, name: int, _: int, line: int) -> Json:
        if line >= 0:
            span = self.places.frames.span(line)
            return {"file": span.label, "line": span.line}
        known = self.recording.host_lines.get(name) if line < NONE else None
        return {"file": known.file, "line": known.line} if known else {}


def _profiles(recording: Recording, frames: _FrameNumbers) -> Iterator[Json]:
    events = recording.events
    layer = layers(events)
    several = len(recording.hosts) > 1
    for lane, about in enumerate(recording.lanes):
        low, high = np.searchsorted(events.lane, (lane, lane + 1)).tolist()
        for number in np.unique(layer[low:high]).tolist():
            rows = low + np.flatnonzero(layer[low:high] == number)
            written = _stacked(events, rows, frames)
            host = f"{recording.hosts[about.host]}: " if several else ""
            yield {
                "type": "evented",
                "name": f"{host}{about.group} · {about.name}" + (f" ({number + 1})" if number else ""),
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": written[-1]["at"],
                "events": written,
            }


def _stacked(events: Events, rows: Numbers, frames: _FrameNumbers) -> list[Json]:
    """Opens and closes, balanced and in the order of time; the events nest."""
    columns = (events.start, events.end, events.name, events.op, events.kind)
    written: list[Json] = []
    stack: list[tuple[int, int]] = []
    for start, end, name, op, kind in zip(*(column[rows].tolist() for column in columns), strict=True):
        while stack and stack[-1][0] <= start:
            written.append(_entry("C", *stack.pop()))
        frame = frames.number(name, op, kind)
        written.append(_entry("O", start, frame))
        stack.append((end, frame))
    while stack:
        written.append(_entry("C", *stack.pop()))
    return written


def _entry(kind: str, picoseconds: int, frame: int) -> Json:
    whole, part = divmod(picoseconds, NANOSECOND)
    return {"type": kind, "frame": frame, "at": picoseconds / NANOSECOND if part else whole}
