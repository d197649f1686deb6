"""The counters of a Chrome trace."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from jaxstage_ext.profiling.chrome.chrome_columns import RawEvents, ordinal
from jaxstage_ext.profiling.chrome.chrome_processes import Process
from jaxstage_ext.profiling.chrome.chrome_spans import WINDOW, ClockBase
from jaxstage_ext.profiling.chrome.chrome_text import Json
from jaxstage_ext.report.recording import CounterSeries, EventLane, LaneKind

_MEMORY = {"Total Allocated": "memory allocated", "Total Reserved": "memory reserved"}
"""The fields of PyTorch's memory instants that are the state of the allocator."""
_LARGEST = 1e300


def counters_of(
    raw: RawEvents, base: ClockBase, processes: dict[Hashable, Process], lanes: int
) -> tuple[tuple[CounterSeries, ...], tuple[EventLane, ...], int]:
    """(the series, their lanes, which are numbered from `lanes` on, and how many samples are not numbers)."""
    samples: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    unreadable = 0
    gpus = {process.device: process.group for process in processes.values() if process.platform == "GPU"}
    for row, phase, args in raw.special:
        if phase == "M":
            continue
        if not raw.start.known[row] or abs(int(raw.start.whole[row]) - base.whole) >= 2 * WINDOW:
            unreadable += 1
            continue
        process, name = processes[raw.keys[int(raw.key[row])][2]], raw.names[int(raw.name[row])]
        for series, value in _series(phase, name, args, process.group, gpus):
            if value is None:
                unreadable += 1
            else:
                samples.setdefault(series, []).append((row, value))
    made, shown = [], []
    for place, ((group, name, unit), points) in enumerate(samples.items()):
        rows = np.array([row for row, _ in points], np.int64)
        time, values = base.since(raw.start, rows), np.array([value for _, value in points])
        order = np.argsort(time, kind="stable")
        shown.append(EventLane(group, name, LaneKind.COUNTER))
        made.append(CounterSeries(lanes + place, name, time[order], values[order], unit))
    return tuple(made), tuple(shown), unreadable


def _series(
    phase: str, name: str, args: Json, group: str, gpus: dict[int, str]
) -> Iterator[tuple[tuple[str, str, str], float | None]]:
    if phase == "C":
        for field, value in args.items():
            own = field if not name else name if len(args) == 1 else f"{name}: {field}"
            yield (group, own, ""), number(value)
        return
    is_device = args.get("Device Type") == 1
    gpu = ordinal(args.get("Device Id"))
    where = gpus.get(gpu, f"GPU {gpu}") if is_device else group
    for field, title in _MEMORY.items():
        if field in args:
            yield (where, title, "B"), number(args[field])


def number(value: Any) -> float | None:
    """A JSON value as a number; the digits of a float are `bytes`."""
    if type(value) not in (int, bytes, float) or (type(value) is int and abs(value) > _LARGEST):
        return None
    found = float(value)
    return found if abs(found) < _LARGEST else None
