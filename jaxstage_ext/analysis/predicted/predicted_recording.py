"""A predicted call as a recording: lanes of compute, copies and collectives, and memory over the same axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.analysis.predicted import predicted_event_wording as wording
from jaxstage_ext.analysis.predicted.predicted_steps import Stream
from jaxstage_ext.analysis.predicted.replay import Drawn, Replayed
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.prediction import PredictedLoop, Prediction
from jaxstage_ext.report.recording import (
    NONE,
    CounterSeries,
    EventKind,
    EventLane,
    Events,
    LaneKind,
    Ops,
    RecordedModule,
    Recording,
)

FORMAT = "predicted"
_MICROSECOND = 10**6
"""In picoseconds."""
_LEAST_MARKER = 0.05
"""Microseconds below which the instruction that begins or ends work has no event of its own."""
_KINDS = {
    Stream.COMPUTE: EventKind.OP,
    Stream.BESIDE: EventKind.OP,
    Stream.COPY: EventKind.COPY,
    Stream.COLLECTIVE: EventKind.COLLECTIVE,
}
_LANES = {
    Stream.COMPUTE: LaneKind.COMPUTE,
    Stream.BESIDE: LaneKind.COMPUTE,
    Stream.COPY: LaneKind.COPY,
    Stream.COLLECTIVE: LaneKind.COLLECTIVE,
}


@dataclass(frozen=True)
class _Placed:
    drawn: Drawn
    lane: int


def recording(title: str, replayed: Replayed, prediction: Prediction, module: RecordedModule) -> Recording:
    """The recording of one call on one device of the prediction's target."""
    shown = [one for one in replayed.drawn if one.end > one.start and not _is_short_marker(one)]
    around = [Drawn(loop.step, loop.start, loop.end, loop.times) for loop in replayed.loops if loop.end > loop.start]
    group = wording.group(prediction.target)
    placed, lanes = _lanes(shown, around, group)
    columns = sorted(placed, key=lambda one: (one.lane, one.drawn.start, -one.drawn.end))
    names, ops = Numbering[str](), Numbering[str]()
    of_op = [NONE if one.drawn.step.row < 0 else ops[one.drawn.step.name] for one in columns]
    of_name = [names[one.drawn.step.name] for one in columns]
    start = _picoseconds(one.drawn.start for one in columns)
    events = Events(
        start,
        _picoseconds(one.drawn.end for one in columns) - start,
        np.array([one.lane for one in columns], np.int32),
        np.array(of_name, np.int32),
        np.array([_kind(one.drawn) for one in columns], np.uint8),
        np.array(of_op, np.int32),
        np.zeros(len(columns), np.int32),
        np.zeros(len(columns), np.int32),
        np.zeros(len(columns), np.int64),
    )
    counters = _memory(replayed, len(lanes))
    if counters:
        lanes.append(EventLane(group, wording.MEMORY, LaneKind.COUNTER, 0))
    drawn = [one.drawn for one in columns]

    def details(event: int) -> Mapping[str, Any]:
        return wording.details(drawn[event])

    return Recording(
        title,
        FORMAT,
        tuple(lanes),
        tuple(names),
        events,
        Ops(np.zeros(len(ops), np.int32), tuple(ops)),
        (module,),
        counters,
        total=len(columns),
        details=details,
        prediction=prediction,
    )


def loops(replayed: Replayed) -> tuple[PredictedLoop, ...]:
    """The loops of a call, in the order in which they are drawn."""
    made = sorted((loop for loop in replayed.loops if not loop.step.branches), key=lambda loop: loop.start)
    return tuple(
        PredictedLoop(loop.step.name, loop.count, loop.seconds / 1e6, loop.start / 1e6, loop.end / 1e6) for loop in made
    )


def matched(replayed: Replayed) -> float:
    """The share of the time of all work whose instruction is in the module that is shown; 1 without work."""
    times = [((one.end - one.start) * one.times, one.step.row >= 0) for one in replayed.drawn]
    whole = sum(time for time, _ in times)
    return sum(time for time, known in times if known) / whole if whole else 1.0


def _is_short_marker(drawn: Drawn) -> bool:
    return drawn.is_marker and drawn.end - drawn.start < _LEAST_MARKER


def _kind(drawn: Drawn) -> EventKind:
    return EventKind.OTHER if drawn.is_marker else _KINDS[drawn.step.stream]


def _picoseconds(times: Iterable[float]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.rint(np.fromiter(times, np.float64) * _MICROSECOND).astype(np.int64)


def _lanes(shown: Sequence[Drawn], around: Sequence[Drawn], group: str) -> tuple[list[_Placed], list[EventLane]]:
    """Where each is drawn: what overlaps on one stream gets further lanes; loops are around what the main one does."""
    placed: list[_Placed] = []
    lanes: list[EventLane] = []
    for stream in Stream:
        free: list[tuple[float, int]] = []
        for one in sorted(filter(lambda drawn: _stream(drawn) is stream, shown), key=lambda drawn: drawn.start):
            lane = next((at for at, (until, _) in enumerate(free) if until <= one.start + 1e-9), len(free))
            if lane == len(free):
                free.append((0.0, len(lanes)))
                lanes.append(EventLane(group, wording.lane(stream, lane), _LANES[stream], 0))
            free[lane] = (one.end, free[lane][1])
            placed.append(_Placed(one, free[lane][1]))
    main = next((number for number, lane in enumerate(lanes) if lane.kind is LaneKind.COMPUTE), len(lanes))
    if around and main == len(lanes):
        lanes.append(EventLane(group, wording.lane(Stream.COMPUTE, 0), LaneKind.COMPUTE, 0))
    return [*(_Placed(one, main) for one in around), *placed], lanes


def _stream(drawn: Drawn) -> Stream:
    return Stream.COMPUTE if drawn.is_marker else drawn.step.stream


def _memory(replayed: Replayed, lane: int) -> tuple[CounterSeries, ...]:
    if not replayed.memory:
        return ()
    time, value = zip(*replayed.memory, strict=True)
    return (CounterSeries(lane, wording.MEMORY, _picoseconds(time), np.array(value, np.float64), "B"),)
