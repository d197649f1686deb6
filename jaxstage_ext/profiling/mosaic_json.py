"""The files that JAX writes of on-device profiles, `<kernel>-<ns>-trace.json`, which say nothing of what they are.

JAX adds the cycles since the first record of a warpgroup to its start in nanoseconds. So durations are in cycles, and
only the start of each warpgroup is in nanoseconds. The SM clock is not in the file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from jaxstage_ext.profiling.chrome_columns import Longs, RawEvents
from jaxstage_ext.report.recording import EventKind, LaneKind, Loss, Lost, Recording


def is_dump(raw: RawEvents) -> bool:
    """Whether a Chrome trace is such a file: ranges alone, of threads and processes by number, and no more fields."""
    return raw.head == {"displayTimeUnit": "ns"} and bool(raw.keys) and all(map(_is_range, raw.keys))


def _is_range(key: tuple[Any, ...]) -> bool:
    phase, category, process, thread = key
    return phase in ("B", "E") and category is None and type(process) is int and type(thread) is int


def on_device(recording: Recording, raw: RawEvents, row: Longs) -> Recording:
    """The recording of such a file, with lanes by SM; `row` has the row of each event in the file."""
    lanes = list(recording.lanes)
    number, first = np.unique(recording.events.lane, return_index=True)
    for lane, event in zip(number.tolist(), first.tolist(), strict=True):
        _, _, process, thread = raw.keys[int(raw.key[row[event]])]
        lanes[lane] = replace(
            lanes[lane], group=f"SM {process - 1}", name=f"trace {thread - 1}", kind=LaneKind.ON_DEVICE
        )
    count = len(recording.events)
    return replace(
        recording,
        lanes=tuple(lanes),
        events=replace(recording.events, kind=np.full(count, EventKind.RANGE, np.uint8)),
        lost=(*recording.lost, *([Lost(Loss.CYCLES_AS_TIME, count)] if count else [])),
    )
