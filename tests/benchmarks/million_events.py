"""A notebook cell: a timeline of a million events in 200 lanes, nested in four rows each."""

import numpy as np

from jaxstage_ext.panel.showing.shown_timeline import recorded
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import EventKind, EventLane, Events, LaneKind, Ops, Recording

LANES, NAMES = 200, 300


def lane_events(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(starts, durations) of a lane in picoseconds, over ten seconds."""
    random = np.random.default_rng(seed)
    start, length = np.zeros(1, np.int64), np.full(1, 10 * 10**12, np.int64)
    starts, lengths = [start], [length]
    for count in (6, 18, 46):
        part = length // count
        start = (start[:, None] + part[:, None] * np.arange(count)).ravel()
        length = np.repeat(part, count)
        length = (length * random.uniform(0.3, 0.99, len(length))).astype(np.int64)
        starts.append(start)
        lengths.append(length)
    return np.concatenate(starts), np.concatenate(lengths)


parts = [lane_events(lane) for lane in range(LANES)]
lane = np.repeat(np.arange(LANES, dtype=np.int32), [len(start) for start, _ in parts])
start, duration = (np.concatenate(column) for column in zip(*parts, strict=True))
order = np.lexsort((-duration, start, lane))
size = len(order)
events = Events(
    start=start[order],
    duration=duration[order],
    lane=lane[order],
    name=np.random.default_rng(0).integers(0, NAMES, size).astype(np.int32),
    kind=np.full(size, EventKind.KERNEL, np.uint8),
    op=np.full(size, -1, np.int32),
    device=lane[order] // 25,
    run=np.zeros(size, np.int32),
    correlation=np.zeros(size, np.int64),
)
lanes = tuple(
    EventLane(f"GPU {number // 25}", f"Stream #{number % 25}", LaneKind.COMPUTE, number // 25)
    for number in range(LANES)
)
names = tuple(f"loop_fusion_{number}.{number % 7}" for number in range(NAMES))
big = Recording("a million events", "xplane", lanes, names, events, Ops(np.zeros(0, np.int32), ()), total=size)
shown = recorded(Timeline(big, without_places(big)))
