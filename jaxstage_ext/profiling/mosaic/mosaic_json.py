"""The files that JAX writes of on-device profiles, `<kernel>-<ns>-trace.json`, which say nothing of what they are.

JAX adds the cycles since the first record of a warpgroup to its start in nanoseconds. So durations are in cycles, and
only the start of each warpgroup is in nanoseconds. The SM clock is not in the file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from jaxstage_ext.profiling.chrome import chrome_trace
from jaxstage_ext.profiling.chrome.chrome_columns import RawEvents, raw_events
from jaxstage_ext.profiling.chrome.chrome_text import TraceText
from jaxstage_ext.profiling.chrome.unpacking import unpacked
from jaxstage_ext.report.recording import EventKind, EventLane, LaneKind, Loss, Lost, Recording

_BEGINNING = re.compile(
    rb'\{"displayTimeUnit": "ns", "traceEvents": '
    rb'\[\{"name": "[^"]{0,400}", "ph": "B", "ts": [0-9.e+]{1,24}, "pid": [0-9]{1,10}, "tid": [0-9]{1,10}\}'
)
_THREAD = "thread "


def is_dump(head: bytes) -> bool:
    """Whether data begin as such a file does: a range, of a process and a thread by number, and no more fields."""
    return _BEGINNING.match(head) is not None


def read(data: bytes, title: str) -> Recording:
    """The recording of such a file, with lanes by SM; that of any Chrome trace where it is another one after all.

    Raises UnreadableProfile where it is cut off or damaged.
    """
    recording = chrome_trace.read(data, title)
    raw = raw_events(TraceText(unpacked(data, title).decode("utf-8-sig", "replace"), title))
    if raw.head != {"displayTimeUnit": "ns"} or not all(map(_is_range, raw.keys)):
        return recording
    count = len(recording.events)
    return replace(
        recording,
        lanes=_by_sm(recording, raw),
        events=replace(recording.events, kind=np.full(count, EventKind.RANGE, np.uint8)),
        lost=(*recording.lost, Lost(Loss.CYCLES_AS_TIME, count)),
    )


def _is_range(key: tuple[Any, ...]) -> bool:
    phase, category, process, thread = key
    return phase in ("B", "E") and category is None and type(process) is int and type(thread) is int


def _by_sm(recording: Recording, raw: RawEvents) -> tuple[EventLane, ...]:
    """JAX numbers threads through all blocks, from 1, and gives the SM as the process, from 1 too."""
    process_of = {f"{_THREAD}{thread}": (process, thread) for _, _, process, thread in raw.keys}
    placed = ((lane, process_of.get(lane.name)) for lane in recording.lanes)
    return tuple(
        replace(lane, kind=LaneKind.ON_DEVICE)
        if at is None
        else replace(lane, group=f"SM {at[0] - 1}", name=f"trace {at[1] - 1}", kind=LaneKind.ON_DEVICE)
        for lane, at in placed
    )
